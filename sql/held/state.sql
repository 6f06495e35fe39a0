-- State of the postings and words, besides that of the documents.
--
-- out  rules   text  by which postings were made: of the schema, and of documents that wait for new ones
-- out  digest  text  of all words, whatever their order: an integer
with counted as (
    select
        max(value) filter (name = 'stale_postings') as stale,
        max(value) filter (name = 'words_digest') as digest
    from counters
)

select
    (select max(version) from schema_migrations) || ' ' || stale as rules,
    digest::varchar as digest
from counted
where digest is not null
