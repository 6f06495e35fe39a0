-- Files of documents as they were at the last update, by number; none of documents without a file.
--
-- in   $ids         json      array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  root         text      folder of the collection
-- out  path         text      below it; of an attachment, the file that it is inside of
-- out  size         bigint    bytes
-- out  mtime_ns     bigint    -1: too fresh to be trusted
-- out  checksum     text      XXH3-128
with asked as (
    select document_id, collection, root, path, container, size, mtime_ns, checksum
    from (select unnest(from_json($ids, '["UINTEGER"]')) as number)
    join documents on number = document_id
    join collections on collection = name
    where root <> ''
)

select document_id, collection, root, path, size, mtime_ns, checksum
from asked
where container is null
union all
select asked.document_id, asked.collection, root, file.path, file.size, file.mtime_ns, file.checksum
from asked
join documents as file on asked.collection = file.collection and asked.container = file.path
