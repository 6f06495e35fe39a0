-- Limit the memory of DuckDB. Cached pages of files beyond it are released at once.
--
-- in   $limit  text  as DuckDB writes it; put in as text
set global memory_limit = $limit
