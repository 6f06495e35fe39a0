-- One setting.
--
-- in   $name   text
-- out  value   text
select value from settings where name = $name
