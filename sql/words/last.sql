-- The last row of the words.
--
-- out  last  bigint?  null: there are none
select max(rowid) as last from words
