-- Remember new words, in order, so that words with one beginning lie together.
--
-- in   learnt    relation  word text, term text, term_id bigint
insert into words
select word, word[:3] as head, term, term_id
from learnt
where word not in (select word from words)
order by word
