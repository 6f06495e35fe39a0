-- How much is in each collection?
select collection, documents, format_bytes(bytes) as size, modified
from collections
order by bytes desc
