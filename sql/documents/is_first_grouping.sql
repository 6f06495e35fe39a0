-- Check that the texts were never grouped, or by a version that did not note it.
--
-- out  first  boolean
select not exists (from counters where name = 'grouped_documents') as first
