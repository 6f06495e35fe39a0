-- Give the numbers of new chunks away.
--
-- in   $count  integer
update counters
set value = value + $count
where name = 'next_chunk_id'
