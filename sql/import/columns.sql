-- The columns of a Parquet file.
--
-- in   $path  text
describe select *
from read_parquet($path, hive_partitioning = false)
