-- Folders that have lost their files all at once, by collection and name.
--
-- out  collection  text
-- out  folder      text
-- out  documents   bigint  that are kept
-- out  files       bigint  of the collection that are left
select collection, folder, documents, files
from lost_folders
order by collection, folder
