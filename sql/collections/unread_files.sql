-- Files that could not be read, by collection and path.
--
-- out  collection  text
-- out  path        text
-- out  why         text  in one line
select collection, path, why
from unread_files
order by collection, path, why
