-- Rows, of a table that is exported unchanged, that belong to the chosen documents.
--
-- in   $table  name  put in as text, since a table is no parameter; it has a document_id
select *
from $table
where document_id in (select document_id from memory.chosen)
