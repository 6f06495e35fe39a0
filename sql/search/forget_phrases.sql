-- Forget the phrases of the last search.
delete from asked_phrases
