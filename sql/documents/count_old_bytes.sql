-- Count texts whose documents have gone, where the index counts them.
--
-- in   $bytes  integer
update counters
set value = value + $bytes
where name = 'old_bytes'
