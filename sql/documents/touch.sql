-- Note new times of files whose content is the same. Where nothing else dates a document, its date
-- is such a time.
--
-- in   $touched  json  object of columns: document_id, modified (microseconds), size, mtime_ns, ctime_ns,
--                      inode, checksum
with touched as (
    select
        unnest(document_id) as document_id, unnest(modified) as modified, unnest(size) as size,
        unnest(mtime_ns) as mtime_ns, unnest(ctime_ns) as ctime_ns,
        unnest(inode) as inode, unnest(checksum) as checksum
    from (
        select unnest(
            from_json(
                $touched,
                '{"document_id": ["UINTEGER"], "modified": ["BIGINT"], "size": ["UBIGINT"],
                  "mtime_ns": ["BIGINT"], "ctime_ns": ["BIGINT"], "inode": ["UBIGINT"], "checksum": ["VARCHAR"]}'
            )
        )
    )
)

update documents
set
    size = touched.size,
    mtime_ns = touched.mtime_ns,
    ctime_ns = touched.ctime_ns,
    inode = touched.inode,
    checksum = touched.checksum,
    modified = make_timestamp(touched.modified),
    dated = case when dated = documents.modified then make_timestamp(touched.modified) else dated end
from touched
where documents.document_id = touched.document_id
