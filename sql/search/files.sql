-- Files whose text may be that of a document, as they were at the last update; none of documents inside
-- of another file.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text     of the text of the document
-- out  matter       integer  characters before its text: of its front matter
-- out  size         bigint   bytes
-- out  mtime_ns     bigint   -1: too fresh to be trusted
select
    documents.document_id,
    collection,
    path,
    title,
    hash,
    coalesce(matter, 0) as matter,
    size,
    mtime_ns
from (select unnest(from_json($ids, '["UINTEGER"]')) as document_id) as asked
join documents on asked.document_id = documents.document_id
where container is null
