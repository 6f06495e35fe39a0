-- Whether the files of a folder are those that the index has: what most updates find.
--
-- in   $collection  text
-- in   $files       text     path, U+0001, and with blanks between: bytes, nanoseconds, inode; NUL
--                            between two files; no path twice
-- out  same         boolean
with found as (
    select unnest(string_split($files, chr(0))) as file
    where $files <> ''
),

known as (
    select path || chr(1) || size || ' ' || mtime_ns || ' ' || inode as file
    from documents
    where collection = $collection
)

select
    (select count(*) from found) = (select count(*) from known)
    and not exists (from found anti join known on found.file = known.file) as same
