-- The links of documents.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  texts        text[]   of links, tags and headings
-- out  targets      text[]   of links, as written; of others nothing
select document_id, outline.texts as texts, outline.targets as targets
from (select unnest(from_json($ids, '["UINTEGER"]')) as asked_id) as asked
join documents on asked_id = document_id
join content on documents.hash = content.hash
where outline is not null
