-- The last row of the postings.
--
-- out  last  bigint?  null: there are none
select max(rowid) as last from postings
