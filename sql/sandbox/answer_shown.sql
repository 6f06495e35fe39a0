-- The same for DESCRIBE, SHOW and SUMMARIZE, which are no queries to DuckDB, but tables.
--
-- in   $query  text  put in as text, on lines of its own
create table memory.qmd.answer as from (
$query
)
