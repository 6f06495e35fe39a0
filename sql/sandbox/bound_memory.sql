-- Limit the memory of DuckDB's buffers.
--
-- in   $most  text  a size as DuckDB writes it; put in as text, since set takes no parameters
set memory_limit = $most
