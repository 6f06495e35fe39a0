-- Files of documents as they were at the last update, by number; none of documents without a file.
--
-- in   $ids         json      array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  root         text      folder of the collection
-- out  path         text      below it
-- out  size         bigint    bytes
-- out  mtime_ns     bigint    -1: too fresh to be trusted
-- out  checksum     text      XXH3-128
-- out  is_inside    boolean   of another file, whose size and time count: see recorded_around
select document_id, collection, root, path, size, mtime_ns, checksum, container is not null as is_inside
from (select unnest(from_json($ids, '["UINTEGER"]')) as number)
join documents on number = document_id
join collections on collection = name
where root <> ''
