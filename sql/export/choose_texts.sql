-- Choose the texts to export: those of the chosen documents, or all.
--
-- in   $everything  boolean  also those that no document has
create or replace table memory.chosen_texts as
select hash
from content
where $everything
union all
select hash
from memory.chosen
where not $everything
