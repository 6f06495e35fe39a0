-- Forget the words of the last search.
delete from asked_words
