-- Number of the first document since the texts were grouped. Statements take it as a parameter: where it was
-- a subquery of theirs, DuckDB 2 joined all documents with it.
--
-- out  since  bigint?  null: the texts were never grouped, or by a version that did not note it
select max(value) as since
from counters
where name = 'grouped_documents'
