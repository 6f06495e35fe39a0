-- Documents that answer to a name.
--
-- in   $name        text
-- out  rank         integer  0 collection/path, 1 path, 2 end of a path at a folder
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  dated        timestamp
-- out  modified     timestamp
-- out  size         bigint
select
    case
        when collection || '/' || path = $name then 0
        when path = $name then 1
        else 2
    end as rank,
    document_id, collection, path, title, hash, dated, modified, size
from documents
where path = $name or ends_with('/' || collection || '/' || path, '/' || $name)
order by rank, collection, path
