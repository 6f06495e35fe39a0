-- Indexed files of a collection, in any order; without documents inside of files.
--
-- in   $collection  text
-- in   $low         text?  the first path; null: there is no limit
-- in   $high        text?  the first path that is too high; null: there is none
-- out  files        text?  as documents/changes takes them; null: there are none
select string_agg(concat(size, ' ', mtime_ns, ' ', ctime_ns, ' ', inode, '/', path), chr(0)) as files
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
