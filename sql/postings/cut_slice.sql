-- Remove a slice of the terms.
--
-- in   $low   bigint  first term_id
-- in   $high  bigint  last term_id
delete from postings
where term_id between $low and $high
