-- Files of a collection that readers have read, which now are others.
--
-- in   $collection  text
-- in   $readers     json     array of names with versions
-- out  path         text
-- out  document_id  integer
select file.path, file.document_id
from documents as file
where
    file.collection = $collection
    and file.container is null
    and file.path in (
        select coalesce(container, path)
        from documents
        where
            collection = $collection
            and reader in (select unnest(from_json($readers, '["VARCHAR"]')))
    )
