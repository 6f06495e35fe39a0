-- Which documents are marked as open, oldest first?
select file, title, date
from documents
where metadata ->> 'status' = 'open'
order by date
