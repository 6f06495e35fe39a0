-- Which documents do others link to most?
select file, count(distinct from_file) as linked_by
from backlinks
group by file
order by linked_by desc, file
limit 10
