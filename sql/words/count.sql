-- How many words the index has met.
--
-- out  words  bigint
select count(*) as words from words
