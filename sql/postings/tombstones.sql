-- Documents that are gone, whose postings are there.
--
-- out  document_id  integer
select document_id from tombstones
