-- The terms of words never met before. Runs in memory, with the fts extension loaded.
--
-- in   $words    text      folded words of nothing but a to z, distinct, a line feed between two
-- out  word      text
-- out  term_id   bigint    low 63 bits of the term's MD5
-- out  term      text      English Snowball stem
with stemmed as (
    select word, stem(word, 'english') as term
    from (select unnest(string_split($words, chr(10))) as word)
)

select word, (md5_number_lower(term) >> 1)::bigint as term_id, term
from stemmed
