-- Of the documents of a batch, those whose place in the index is still as it was seen.
--
-- A document that another process has changed in the meantime is left out; its file will be
-- compared again. So is one whose collection has been removed or renamed.
--
-- in   incoming   relation  of documents, with seen_id: the document_id that it replaces, 0 for none
-- in   $incoming  json?     the same, as an object of columns; null: there is the relation
create or replace temp table accepted as
-- if $incoming
with incoming as (
    select
        unnest(number) as number, unnest(seen_id) as seen_id,
        unnest(collection) as collection, unnest(path) as path, unnest(title) as title,
        unnest(hash) as hash, unnest(metadata) as metadata,
        unnest(dated) as dated, unnest(modified) as modified, unnest(lossy) as lossy,
        unnest(size) as size, unnest(mtime_ns) as mtime_ns, unnest(inode) as inode,
        unnest(checksum) as checksum,
        unnest(title_length) as title_length, unnest(path_length) as path_length,
        unnest(body_length) as body_length,
        unnest(path_start) as path_start, unnest(body_start) as body_start
    from (
        select unnest(
            from_json(
                $incoming,
                '{"number": ["UINTEGER"], "seen_id": ["UINTEGER"],
                  "collection": ["VARCHAR"], "path": ["VARCHAR"], "title": ["VARCHAR"],
                  "hash": ["VARCHAR"], "metadata": ["VARCHAR"],
                  "dated": ["BIGINT"], "modified": ["BIGINT"], "lossy": ["BOOLEAN"],
                  "size": ["UBIGINT"], "mtime_ns": ["BIGINT"], "inode": ["UBIGINT"],
                  "checksum": ["VARCHAR"],
                  "title_length": ["UINTEGER"], "path_length": ["UINTEGER"],
                  "body_length": ["UINTEGER"],
                  "path_start": ["UINTEGER"], "body_start": ["UINTEGER"]}'
            )
        )
    )
)
-- end
select
    incoming.*,
    (select value from counters where name = 'next_document_id') + incoming.number as document_id
from incoming
left join documents
    on incoming.collection = documents.collection and incoming.path = documents.path
where coalesce(documents.document_id, 0) = incoming.seen_id
    and incoming.collection in (select name from collections)
