-- Which documents have the same text?
select docid, count(*) as copies, list(file order by file) as files
from documents
group by docid
having count(*) > 1
order by copies desc, docid
