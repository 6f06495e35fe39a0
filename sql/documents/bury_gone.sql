-- Add tombstones for removed documents and those inside of their files: their postings stay until the next
-- merge.
--
-- in   $ids  json  array of document_id
insert into tombstones
select document_id
from documents
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
