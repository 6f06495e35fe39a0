-- Choose the terms whose words to export: those in the chosen documents, or all.
--
-- in   $everything  boolean
create or replace table memory.chosen_terms as
select term_id
from words
where $everything
union
select term_id
from postings
where not $everything and document_id in (select document_id from memory.chosen)
