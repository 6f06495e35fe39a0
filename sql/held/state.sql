-- State of the postings and words, besides that of the documents.
--
-- in   $bound   bigint  rows of the words that are compared: those before it
-- out  rules    text    by which postings were made: of the schema, and of documents that wait for new ones
-- out  bound    bigint  of the words that there are now
-- out  digest   text    a hash of the words before $bound, whatever their order
select
    (select max(version) from schema_migrations)
    || ' ' || (select value from counters where name = 'stale_postings') as rules,
    coalesce(max(rowid) + 1, 0) as bound,
    coalesce(sum(hash(word, term_id)) filter (rowid < $bound), 0)::varchar as digest
from words
