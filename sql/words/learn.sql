-- Add new words, sorted, so that words with the same beginning are adjacent. Two processes may add the same
-- word: it is then there twice, with the same term.
--
-- in   learnt   relation  word text, term text, term_id bigint
insert into words
select
    word,
    (unicode(word)::bigint << 42)
    | (greatest(unicode(word[2]), 0)::bigint << 21)
    | greatest(unicode(word[3]), 0),
    term,
    term_id
from learnt
order by word
