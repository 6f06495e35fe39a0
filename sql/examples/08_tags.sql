-- Which tags are most common?
select value as tag, count(distinct file) as documents
from frontmatter
where key = 'tags'
group by tag
order by documents desc, tag
limit 20
