-- What the index knows of the words of a query: each word itself, other words with its stem, and
-- longer words that start with it. Words of fewer than three letters stand for themselves alone.
--
-- in   $words   json     array of folded words, distinct
-- out  asked    text     the word of the query
-- out  word     text     as the index has it
-- out  term_id  bigint
with given as (
    select unnest(from_json($words, '["VARCHAR"]')) as asked
),

headed as (
    select
        asked,
        (unicode(asked)::bigint << 42)
        | (greatest(unicode(asked[2]), 0)::bigint << 21)
        | greatest(unicode(asked[3]), 0) as head
    from given
)

select asked, word, term_id
from words
join headed on words.head = headed.head
where word = asked or length(asked) >= 3
