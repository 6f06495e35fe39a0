-- Add words, so that those with one beginning lie together.
--
-- in   $files  json  array of paths
insert into words by name
select *
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by word
