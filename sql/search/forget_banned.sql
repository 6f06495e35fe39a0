-- Forget the exclusions of the last search.
delete from banned
