-- Note the documents of collections that are no more.
insert into tombstones
select document_id
from documents
where collection not in (select name from collections)
