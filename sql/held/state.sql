-- State of the postings and words, besides that of the documents.
--
-- The digest of the words before $bound is that of all without the others: what was added since is little.
--
-- in   $bound   bigint  rows of the words that are compared: those before it
-- out  rules    text    by which postings were made: of the schema, and of documents that wait for new ones
-- out  bound    bigint  of the words that there are now
-- out  digest   text    of all words, whatever their order
-- out  before   text    of the words before $bound
with words_of_all as (
    select value as digest
    from counters
    where name = 'words_digest'
)

select
    (select max(version) from schema_migrations)
    || ' ' || (select value from counters where name = 'stale_postings') as rules,
    (select coalesce(max(rowid) + 1, 0) from words) as bound,
    words_of_all.digest::varchar as digest,
    xor(
        words_of_all.digest,
        (
            select coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0)
            from words
            where rowid >= $bound
        )
    )::varchar as before
from words_of_all
