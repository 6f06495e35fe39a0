-- Remove the documents of removed collections. Their content stays.
delete from documents
where collection not in (select name from collections)
