-- Check for an empty index.
--
-- out  is_empty  boolean
select count(*) = 0 as is_empty from documents
