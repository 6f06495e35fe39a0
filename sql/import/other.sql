-- Add rows to a table as they are.
--
-- in   $table  name  put in as text, since a table is no parameter
-- in   $files  json  array of paths
insert into $table by name
select *
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
