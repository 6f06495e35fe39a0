-- Add the context of all records.
--
-- in   $body  text
insert into contexts
values ('experiences', '', $body)
