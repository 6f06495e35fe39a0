-- Forget the filter of the last search.
delete from allowed
