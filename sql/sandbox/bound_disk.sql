-- What a query may write to disk while it runs. DuckDB shows a limit that it is given when it
-- starts, and does not keep to it.
--
-- in   $most  text  a size as DuckDB writes it; put in as text, since set takes no parameters
set max_temp_directory_size = $most
