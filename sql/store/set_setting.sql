-- Store one setting.
--
-- in   $name   text
-- in   $value  text
insert into settings values ($name, $value)
