-- Vectors of a file.
--
-- in   $path     text
-- in   $chunks   integer   added to each chunk_id
-- out  chunk_id  uinteger
-- out  model_id  utinyint
-- out  vector    float[]
select (chunk_id + $chunks)::uinteger as chunk_id, model_id, vector
from read_parquet($path, hive_partitioning = false)
