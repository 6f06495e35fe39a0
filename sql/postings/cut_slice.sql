-- Remove the postings of a slice of the terms that stood there before it was appended.
--
-- in   $low   bigint   first term_id
-- in   $high  bigint   last term_id
-- in   $last  bigint?  row of the last posting before; null: there was none
delete from postings
where term_id between $low and $high and rowid <= $last
