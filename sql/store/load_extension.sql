-- Load an extension of DuckDB.
--
-- in   $path  text  of its binary; put in as text, since load takes no parameters
load $path
