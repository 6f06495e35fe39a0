-- Number of rows of a Parquet file.
--
-- in   $path  text
-- out  rows   bigint
select num_rows as rows
from parquet_file_metadata($path)
