-- How many rows a Parquet file has.
--
-- in   $path  text
-- out  rows   bigint
select num_rows as rows
from parquet_file_metadata($path)
