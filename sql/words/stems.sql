-- The terms of words never met before. Runs in memory, with the fts extension loaded.
--
-- in   $words    text      folded words, distinct, a line feed between two
-- out  word      text
-- out  term_id   bigint    low 63 bits of the term's MD5
-- out  term      text      English Snowball stem; what has none stays as it is
with given as (
    select unnest(string_split($words, chr(10))) as word
),

stemmed as (
    select
        word,
        case when regexp_full_match(word, '[a-z]+') then stem(word, 'english') else word end as term
    from given
)

select word, (md5_number_lower(term) >> 1)::bigint as term_id, term
from stemmed
