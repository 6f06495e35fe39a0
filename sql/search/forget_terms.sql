-- Forget the terms of the last search.
delete from asked_terms
