-- Forget the elements of the phrases of the last search.
delete from asked_elements
