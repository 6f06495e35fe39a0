-- Names of documents.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
select documents.document_id, collection, path, title
from (select unnest(from_json($ids, '["UINTEGER"]')) as document_id) as asked
join documents on asked.document_id = documents.document_id
