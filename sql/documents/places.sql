-- Places of documents.
--
-- in   $ids         json     array of document_id
-- out  document_id  integer
-- out  kinds        text
-- out  labels       text
-- out  lines        text
select document_id, kinds, labels, lines
from documents
join places on documents.places = places.id
where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
