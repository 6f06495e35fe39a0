-- Remove the words that stood there before they were appended.
--
-- in   $last  bigint?  row of the last word before; null: there was none
delete from words
where rowid <= $last
