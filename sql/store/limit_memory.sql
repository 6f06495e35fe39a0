-- How much memory DuckDB may use. What it holds of files beyond that it gives back at once.
--
-- in   $limit  text  as DuckDB writes it; put in as text
set global memory_limit = $limit
