-- Some documents, the newest first.
--
-- in   $ids         json     array of document_id, distinct
-- in   $limit       integer  documents
-- out  document_id  integer
select documents.document_id
from (select unnest(from_json($ids, '["UINTEGER"]')) as document_id) as asked
join documents on asked.document_id = documents.document_id
order by dated desc, collection, path
limit $limit
