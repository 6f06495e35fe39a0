-- Indexed files of a collection, in any order, as documents/files gives them; in columns.
--
-- in   $collection  text
-- in   $low         text?  the first path; null: there is no limit
-- in   $high        text?  the first path that is too high; null: there is none
-- out  size         bigint
-- out  mtime_ns     bigint
-- out  ctime_ns     bigint  0: it is not known, as where a line of documents/files lacks it
-- out  inode        ubigint
-- out  path         text    with NUL behind it
select size::bigint as size, mtime_ns, coalesce(ctime_ns, 0) as ctime_ns, inode, path || chr(0) as path
from documents
where
    collection = $collection
    and container is null
    -- if $low
    and path >= $low
    -- end
    -- if $high
    and path < $high
    -- end
