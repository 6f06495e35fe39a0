-- Folders of a collection that have lost their files all at once, by name.
--
-- in   $collection  text
-- out  folder       text
-- out  documents    bigint  that are kept
-- out  files        bigint  of the collection that are left
select folder, documents, files
from lost_folders
where collection = $collection
order by folder
