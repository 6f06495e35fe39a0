-- Remove duplicate words, except for one of each.
delete from words
where rowid not in (select min(rowid) from words group by word)
