-- Remove the documents of collections that are no more. Their content stays.
delete from documents
where collection not in (select name from collections)
