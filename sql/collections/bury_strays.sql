-- Add tombstones for the documents of removed collections.
insert into tombstones
select document_id
from documents
where collection not in (select name from collections)
