-- Documents with their bodies, by number.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  body         text     empty: it is a long one, in pieces
-- out  matter       integer  characters before its text: of its front matter
select
    documents.document_id,
    collection,
    path,
    title,
    documents.hash,
    body,
    coalesce(matter, 0) as matter
from (select unnest(from_json($ids, '["UINTEGER"]')) as document_id) as asked
join documents on asked.document_id = documents.document_id
join content on documents.hash = content.hash
