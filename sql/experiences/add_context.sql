-- Say of all records what they are, if it is not said yet.
--
-- in   $body  text
insert into contexts
select 'experiences', '', $body
where not exists (select 1 from contexts where collection = 'experiences')
