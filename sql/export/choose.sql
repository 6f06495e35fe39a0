-- Choose the documents to export, and record where their texts are.
--
-- They are kept in memory, where all connections of an export see them.
--
-- in   $documents  json?  array of document_id; null: all
create or replace table memory.chosen as
select document_id, collection, documents.hash, content.rowid as place
from documents
join content on documents.hash = content.hash
where $documents is null or document_id in (select unnest(from_json($documents, '["UINTEGER"]')))
