-- Words of the index, by their characters.
--
-- in   $after   bigint?  rows of words that are known: those before it; null: none
-- out  word     text
-- out  term_id  bigint
select word, term_id
from words
-- if $after
where rowid >= $after
-- end
order by word
