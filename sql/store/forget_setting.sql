-- Remove one setting.
--
-- in   $name   text
delete from settings where name = $name
