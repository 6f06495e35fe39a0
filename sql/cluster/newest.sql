-- Some documents of one shard, the newest first, with what they are ordered by: see search/newest.
--
-- in   $ids         json       array of document_id, distinct
-- in   $limit       integer    documents
-- out  document_id  integer
-- out  dated        timestamp
-- out  collection   text
-- out  path         text
select documents.document_id, dated, collection, path
from (select unnest(from_json($ids, '["UINTEGER"]')) as document_id) as asked
join documents on asked.document_id = documents.document_id
order by dated desc, collection, path
limit $limit
