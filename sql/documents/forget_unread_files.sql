-- Forget which files of a collection could not be read.
--
-- in   $collection  text
delete from unread_files
where collection = $collection
