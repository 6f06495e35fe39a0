-- Remove documents, with those inside of their files. Their content stays, for a file that comes back or has moved.
--
-- in   $ids         json     array of document_id
-- out  document_id  integer  of each that was removed
-- out  hash         text     of its content
-- out  bytes        bigint   that this takes, about: see documents/replace
delete from documents
where
    document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
    or (
        container is not null
        and (collection, container) in (
            select (collection, path)
            from documents
            where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
        )
    )
returning document_id, hash, greatest(size, 8::ubigint * body_length)::bigint as bytes
