-- Whether nothing is indexed.
--
-- out  is_empty  boolean
select count(*) = 0 as is_empty from documents
