-- Add new words to the digest of all, which is the same for any order of them.
--
-- in   learnt   relation  word text, term_id bigint
update counters
set value = xor(
    value, (select coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0) from learnt)
)
where name = 'words_digest'
