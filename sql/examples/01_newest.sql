-- Which documents changed last?
select file, title, modified
from documents
order by modified desc
limit 10
