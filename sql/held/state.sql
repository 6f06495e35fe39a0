-- State of the postings and words, besides that of the documents.
--
-- The digest of the words before $bound is that of all without the others: what was added since is little.
--
-- The migration that is left out changes neither documents nor postings nor words: what was made of these
-- before it can still be used.
--
-- in   $bound   bigint  rows of the words that are compared: those before it
-- out  rules    text    by which postings were made: of the schema, and of documents that wait for new ones
-- out  bound    bigint  of the words that there are now
-- out  digest   text    of all words, whatever their order
-- out  before   text    of the words before $bound
with counted as (
    select
        max(value) filter (name = 'stale_postings') as stale,
        max(value) filter (name = 'words_digest') as digest
    from counters
),

added as (
    select coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0) as digest
    from words
    where rowid >= $bound
)

select
    (select max(version) from schema_migrations where name <> 'moved_texts') || ' ' || counted.stale as rules,
    (select coalesce(max(rowid) + 1, 0) from words) as bound,
    counted.digest::varchar as digest,
    xor(counted.digest, added.digest)::varchar as before
from counted, added
where counted.digest is not null
