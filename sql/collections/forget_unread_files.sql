-- Forget files that could not be read of collections that are no more.
delete from unread_files
where collection not in (select name from collections)
