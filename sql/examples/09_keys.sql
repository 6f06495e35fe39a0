-- Which keys does the frontmatter have, and what values?
select
    key,
    count(distinct file) as documents,
    count(distinct value) as different,
    approx_top_k(value, 3) as common
from frontmatter
group by key
order by documents desc, key
