-- All words of the index, by their characters.
--
-- out  word     text
-- out  term_id  bigint
select word, term_id
from words
order by word
