-- Terms of new words. Runs in memory, with the fts extension loaded.
--
-- in   $words    text      folded words, distinct, a line feed between two
-- out  word      text
-- out  term_id   bigint    low 63 bits of the term's MD5
-- out  term      text      English Snowball stem; a word that has more than a to z, as it is
with stemmed as (
    select
        word,
        case when regexp_full_match(word, '[a-z]+') then stem(word, 'english') else word end as term
    from (select unnest(string_split($words, chr(10))) as word)
)

select word, (md5_number_lower(term) >> 1)::bigint as term_id, term
from stemmed
