-- Remove a record, without its document and its count.
--
-- in   $id  text
delete from experiences where id = $id
