-- Files that are indexed, but about which something is odd.
--
-- in   $limit  integer  files at most
-- out  file    text     collection/path
-- out  remark  text
-- out  total   bigint   files with remarks in all
select collection || '/' || path as file, remark, count(*) over () as total
from documents
where remark is not null
order by file
limit $limit
