-- Choose the collections to export: those of the chosen documents, or all.
--
-- in   $everything  boolean  also those without documents
create or replace table memory.chosen_collections as
select name
from collections
where $everything
union
select collection
from memory.chosen
where not $everything
