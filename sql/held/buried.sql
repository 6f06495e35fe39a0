-- Check for postings of documents that are gone.
--
-- out  buried  boolean
select exists (from tombstones) as buried
