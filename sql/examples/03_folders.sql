-- Which folders hold most?
select
    collection,
    regexp_extract(path, '^(.*)/', 1) as folder,
    count(*) as documents,
    sum(words) as words
from documents
group by all
order by documents desc
limit 20
