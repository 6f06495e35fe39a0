-- Number of words in the index.
--
-- out  words  bigint
select count(*) as words from words
