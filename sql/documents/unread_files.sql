-- Files of a collection that could not be read, by path.
--
-- in   $collection  text
-- out  path         text
-- out  why          text  in one line
select path, why
from unread_files
where collection = $collection
order by path, why
