-- Words that are written much like another one, for a closer look: those that begin with the same letter, and
-- those whose beginning differs by one error: first two letters in the wrong order, first letter left
-- out, another one, or one too many.
--
-- The first three characters of a word are a number (words.head), 21 bits each, so that all but a few words
-- are passed over without being read. Jaro's similarity is quick, and leaves few for the closer look.
--
-- in   $asked    text     a folded word of four characters or more
-- in   $errors   integer  by so many characters its length may differ
-- in   $least    double   Jaro similarity
-- out  word      text
-- out  term_id   bigint
with alike as (
    select word, term_id
    from words
    where head between unicode($asked)::bigint << 42 and ((unicode($asked)::bigint + 1) << 42) - 1
    union all
    -- the first letter is too much, or the first two have changed places
    select word, term_id
    from words
    where
        head between unicode(substr($asked, 2, 1))::bigint << 42
        and ((unicode(substr($asked, 2, 1))::bigint + 1) << 42) - 1
        and unicode(substr($asked, 2, 1)) <> unicode($asked)
        and (starts_with(word, substr($asked, 2, 3)) or starts_with(word, substr($asked, 2, 1) || substr($asked, 1, 1)))
    union all
    -- the first letter is another one
    select word, term_id
    from words
    where
        (head & ((1::bigint << 42) - 1))
        = (unicode(substr($asked, 2, 1))::bigint << 21) | unicode(substr($asked, 3, 1))
        and ends_with(word, substr($asked, 2))
        and unicode(word) not in (unicode($asked), unicode(substr($asked, 2, 1)))
    union all
    -- the first letter is missing
    select word, term_id
    from words
    where
        (head & ((1::bigint << 42) - 1))
        = (unicode($asked)::bigint << 21) | unicode(substr($asked, 2, 1))
        and ends_with(word, $asked)
        and unicode(word) not in (unicode($asked), unicode(substr($asked, 2, 1)))
)

select distinct word, term_id
from alike
where
    length(word) between length($asked) - $errors and length($asked) + $errors
    and jaro_similarity(word, $asked, $least) >= $least
order by word
