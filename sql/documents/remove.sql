-- Remove documents. Their content stays, for a file that comes back or has moved.
--
-- in   $ids         json     array of document_id
-- out  document_id  integer  of each that was removed
delete from documents
where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
returning document_id
