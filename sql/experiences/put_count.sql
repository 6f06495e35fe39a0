-- Set how often a record without a count has answered.
--
-- in   $id     text
-- in   $count  bigint
-- in   $now    timestamp  UTC
insert into experience_counts
select $id, $count, $now
where $count > 0
