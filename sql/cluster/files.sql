-- Files that the documents of an index were read from.
--
-- out  path  text  below the folder of its collection; of attachments, the file that they are inside of
select distinct coalesce(container, path) as path
from documents
order by path
