-- Compute the digest of the words anew, after some were removed or imported.
update counters
set value = (
    select coalesce(bit_xor(md5_number_lower(word || ' ' || term_id)), 0)
    from words
)
where name = 'words_digest'
