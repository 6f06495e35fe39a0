-- Deleted documents that have postings.
--
-- out  document_id  integer
select document_id from tombstones
