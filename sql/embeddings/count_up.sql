-- Reserve numbers for new chunks.
--
-- in   $count  integer
update counters
set value = value + $count
where name = 'next_chunk_id'
