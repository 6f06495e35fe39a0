-- What the index knows of the words of a query: each word itself, other words with its stem, and
-- longer words that start with it. Words of fewer than three letters stand for themselves alone.
--
-- in   asked_words  relation  see search/session
-- out  asked        text      the word of the query
-- out  word         text      as the index has it
-- out  term_id      bigint
select asked_words.word as asked, words.word, term_id
from words
join asked_words on words.head = asked_words.head
where words.word = asked_words.word or length(asked_words.word) >= 3
