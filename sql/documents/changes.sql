-- Differences between a folder and the index: one comparison for all of its files.
--
-- in   $collection  text
-- in   $files       text      bytes, two times, inode with blanks between, '/', path; NUL between
--                             two files; no path twice
-- in   $low         text?     the first path; null: there is no limit
-- in   $high        text?     the first path that is too high; null: there is none
-- in   $among       text?     no others than these paths, NUL between two; null: all
-- out  here         boolean   it was found; if not, it is gone
-- out  document_id  integer?  that the index has for the path; null: it is new
-- out  path         text
-- out  hash         text?     of the content that the index has
-- out  checksum     text?     of the bytes that the index has
with found as (
    select unnest(string_split(files, chr(0))) as file
    from (select $files as files) as given  -- from a parameter, the planner would make each a value
    where files <> ''
),

known as (
    select document_id, concat(size, ' ', mtime_ns, ' ', ctime_ns, ' ', inode, '/', path) as file
    from documents
    where
        collection = $collection
        and container is null
        -- if $low
        and path >= $low
        -- end
        -- if $high
        and path < $high
        -- end
        -- if $among
        and path in (
            select unnest(string_split(among, chr(0)))
            from (select $among as among) as given
        )
        -- end
),

differing as (
    select
        found.file is not null as here,
        document_id,
        coalesce(found.file, known.file) as file
    from found
    full join known on found.file = known.file
    where found.file is null or known.file is null
),

paths as (
    select
        bool_or(here) as here,
        max(document_id) as document_id,
        file[strpos(file, '/') + 1:] as path
    from differing
    group by path
)

select here, paths.document_id, paths.path, hash, checksum
from paths
left join documents on paths.document_id = documents.document_id
order by paths.path
