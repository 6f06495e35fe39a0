-- The document at a path of a collection.
--
-- in   $collection  text
-- in   $path        text
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  dated        timestamp
-- out  modified     timestamp
-- out  size         bigint
select document_id, collection, path, title, hash, dated, modified, size
from documents
where collection = $collection and path = $path
