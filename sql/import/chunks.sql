-- Add chunks.
--
-- in   $files   json     array of paths
-- in   $chunks  integer  added to each chunk_id, so that none is used again
insert into chunks by name
select * replace ((chunk_id + $chunks)::uinteger as chunk_id)
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by chunk_id
