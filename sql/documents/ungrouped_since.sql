-- Number of the first document since the texts were grouped. Statements take it as a parameter, by which
-- DuckDB finds the rows without reading the others.
--
-- out  since  bigint?  null: the texts were never grouped, or by a version that did not note it
select max(value) as since
from counters
where name = 'grouped_documents'
