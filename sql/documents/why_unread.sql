-- Reason why a file could not be read.
--
-- in   $name  text  collection/path, or the path alone
-- out  why    text  in one line
select why
from unread_files
where collection || '/' || path = $name or path = $name
order by path <> $name, collection
limit 1
