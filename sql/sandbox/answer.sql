-- Run a query and store its result, so that the index can be detached before any output.
--
-- in   $query  text  one query; put in as text, on lines of its own
create table memory.qmd.answer as
$query
