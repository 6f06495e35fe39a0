-- Limit the disk space of a running query. DuckDB ignores a limit that is given at its start.
--
-- in   $most  text  a size as DuckDB writes it; put in as text, since set takes no parameters
set max_temp_directory_size = $most
