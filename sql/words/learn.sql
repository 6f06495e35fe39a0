-- Remember new words, in order, so that words with one beginning lie together. Two processes may
-- learn the same word: it then stands here twice, and means the same.
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
