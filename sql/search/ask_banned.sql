-- Documents that a search must not answer with.
--
-- in   $rows  json  array of document_id
insert into banned
select unnest(from_json($rows, '["UINTEGER"]'))
