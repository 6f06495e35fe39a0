-- Store the result of DESCRIBE, SHOW and SUMMARIZE, which DuckDB treats as tables.
--
-- in   $query  text  put in as text, on lines of its own
create table memory.qmd.answer as from (
$query
)
