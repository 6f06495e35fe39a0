-- The files of a collection as the index knows them, in any order.
--
-- in   $collection  text
-- out  files        text?  as documents/changes takes them; null: there are none
select string_agg(concat(size, ' ', mtime_ns, ' ', inode, '/', path), chr(0)) as files
from documents
where collection = $collection
