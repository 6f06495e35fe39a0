-- Which tags are most common?
select tag, count(distinct file) as documents
from tags
group by tag
order by documents desc, tag
limit 20
