-- Forget what is not indexed of a collection.
--
-- in   $collection  text
delete from left_out
where collection = $collection
