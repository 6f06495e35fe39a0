-- Run a query and keep its answer, so that the index can be left before anything is written out.
--
-- in   $query  text  one query; put in as text, on lines of its own
create table memory.qmd.answer as
$query
