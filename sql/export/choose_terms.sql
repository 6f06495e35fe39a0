-- Choose the terms whose words to export: those in the chosen documents.
create or replace table memory.chosen_terms as
select distinct term_id
from postings
where document_id in (select document_id from memory.chosen)
