-- Accepted documents of the batch.
--
-- in   accepted  relation  made by documents/accept
-- out  number       integer  within the batch
-- out  document_id  integer
select number, document_id from accepted order by number
