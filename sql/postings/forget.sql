-- Remove tombstones without postings.
--
-- in   $ids  json  array of document_id
delete from tombstones
where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
