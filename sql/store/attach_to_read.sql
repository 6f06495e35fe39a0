-- The index, for reading beside other readers.
--
-- in   $path  text  the index file; put in as text, since attach takes no parameters
attach $path as qmd_index (type duckdb, read_only)
