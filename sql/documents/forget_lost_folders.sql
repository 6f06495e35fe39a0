-- Forget which folders of a collection have lost their files.
--
-- in   $collection  text
delete from lost_folders
where collection = $collection
