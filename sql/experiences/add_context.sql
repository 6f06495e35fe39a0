-- Say of all records what they are.
--
-- in   $body  text
insert into contexts
values ('experiences', '', $body)
