-- Documents by path, those after one of them, without records of agents.
--
-- in   $collection  text      of the document before; '' for the first
-- in   $path        text      of the document before
-- in   $records     text      collection of the records
-- in   $limit       integer   documents at most
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  size         bigint    bytes of the file
-- out  modified     timestamp UTC
select collection, path, title, size, modified
from documents
where (collection, path) > ($collection, $path) and collection <> $records
order by collection, path
limit $limit
