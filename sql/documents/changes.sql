-- What differs between a folder and the index: one comparison for all of its files.
--
-- in   $collection  text
-- in   $paths       text      of the files found, NUL between two
-- in   $sizes       numbers   bytes, as text, a blank between two
-- in   $mtimes      numbers   nanoseconds
-- in   $inodes      numbers
-- out  place        bigint?   of the file among those found, from 0; null: it is gone
-- out  document_id  integer?  that the index has for the path; null: it is new
-- out  path         text
-- out  hash         text?     of the content that the index has
-- out  checksum     text?     of the bytes that the index has
with found as (
    select
        unnest(range(len(string_split($paths, chr(0))))) as place,
        unnest(string_split($paths, chr(0))) as path,
        unnest(string_split($sizes, ' '))::ubigint as size,
        unnest(string_split($mtimes, ' '))::bigint as mtime_ns,
        unnest(string_split($inodes, ' '))::ubigint as inode
    where $paths <> ''
),

known as (
    select document_id, path, size, mtime_ns, inode
    from documents
    where collection = $collection
),

differing as materialized (
    select found.place, known.document_id, coalesce(found.path, known.path) as path
    from found
    full join known on found.path = known.path
    where
        found.path is null
        or known.path is null
        or (found.size, found.mtime_ns, found.inode) <> (known.size, known.mtime_ns, known.inode)
)

select place, differing.document_id, differing.path, hash, checksum
from differing
left join documents on differing.document_id = documents.document_id
order by place, differing.path
