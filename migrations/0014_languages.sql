-- The language of each document, in which its words have stems.

alter table documents add column lang text;  -- ISO 639-1 code; null: nothing tells it

-- Postings are made anew, with the stems of the language.
update counters
set value = coalesce((select max(document_id) + 1 from documents), 0)
where name = 'stale_postings';
