-- Digest of the words that were added.
--
-- Its bits, where they differ from those of the digest of all words, are the digest of the words before.
--
-- in   $bound  bigint  rows of the words that are left out: those before it
-- out  bound   bigint  of the words that there are now
-- out  digest  text    an integer
select
    (select coalesce(max(rowid) + 1, 0) from words) as bound,
    coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0)::varchar as digest
from words
where rowid >= $bound
