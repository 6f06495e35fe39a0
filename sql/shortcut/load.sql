-- Load DuckDB's vss extension.
--
-- in   $path  text  of the file; put in as text, since this takes no parameters
load $path
