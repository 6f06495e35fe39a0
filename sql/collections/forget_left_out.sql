-- Forget what is not indexed of collections that are no more.
delete from left_out
where collection not in (select name from collections)
