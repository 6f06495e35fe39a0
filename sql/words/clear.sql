-- Remove the words.
delete from words
