-- Which documents are longest?
select file, title, words, format_bytes(size) as size
from documents
order by words desc
limit 10
