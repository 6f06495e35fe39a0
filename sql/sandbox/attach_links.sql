-- The file with resolved links, for reading.
--
-- in   $path  text  put in as text, since attach takes no parameters
attach $path as qmd_links (type duckdb, read_only)
