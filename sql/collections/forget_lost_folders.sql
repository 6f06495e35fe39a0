-- Forget the folders of collections that are no more.
delete from lost_folders
where collection not in (select name from collections)
