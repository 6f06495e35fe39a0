-- Remove the oldest answers.
--
-- in   $most  integer  answers to keep
delete from cache
where rowid not in (select rowid from cache order by created desc, key limit $most)
