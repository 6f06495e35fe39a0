-- Add tombstones for removed documents: their postings stay until the next merge.
--
-- in   $ids  json  array of document_id
insert into tombstones
select document_id
from documents
where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
