-- The links of documents.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  texts        text     of links, tags and headings, U+001E between two
-- out  targets      text     of links, as written; of others nothing; U+001E between two
select
    document_id,
    array_to_string(outline.texts, chr(30)) as texts,
    array_to_string(outline.targets, chr(30)) as targets
from (select unnest(from_json($ids, '["UINTEGER"]')) as asked_id) as asked
join documents on asked_id = document_id
join content on documents.hash = content.hash
where outline is not null
