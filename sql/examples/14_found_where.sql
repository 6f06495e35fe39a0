-- In which folders is a subject at home?
select
    collection,
    regexp_extract(path, '^(.*)/', 1) as folder,
    count(*) as documents,
    round(sum(score), 2) as weight
from bm25('gauge', n := 1000)
group by all
order by weight desc
