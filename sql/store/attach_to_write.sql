-- The index, for one transaction.
--
-- in   $path            text     the index file; put in as text, since attach takes no parameters
-- in   $row_group_size  integer  rows; no property of the file, so said each time
attach $path as qmd_index (type duckdb, storage_version 'v1.5.0', row_group_size $row_group_size)
