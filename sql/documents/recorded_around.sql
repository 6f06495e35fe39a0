-- Files that documents are inside of, such as mails, as they were at the last update.
--
-- in   $ids         json      array of document_id, distinct
-- out  document_id  integer   of the document that is inside
-- out  collection   text
-- out  root         text      folder of the collection
-- out  path         text      of the file around it, below the folder
-- out  size         bigint    bytes
-- out  mtime_ns     bigint    -1: too fresh to be trusted
-- out  checksum     text      XXH3-128
select inside.document_id, inside.collection, root, file.path, file.size, file.mtime_ns, file.checksum
from (select unnest(from_json($ids, '["UINTEGER"]')) as number)
join documents as inside on number = inside.document_id
join documents as file on inside.collection = file.collection and inside.container = file.path
join collections on inside.collection = name
where root <> ''
