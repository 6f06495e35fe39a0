-- Documents of a collection, or below one of its folders.
--
-- in   $collection  text?  null for all
-- in   $prefix      text   '' for all of it
-- in   $composed    text?  the same in NFC; null: it is ASCII
-- in   $begin       text?  what names or paths begin with, if they are ASCII; null: anything
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  dated        timestamp
-- out  modified     timestamp
-- out  size         bigint
select document_id, collection, path, title, hash, dated, modified, size
from documents
where
    ($collection::text is null or collection = $collection)
    and (
        $prefix = ''
        or path = $prefix
        or starts_with(path, $prefix || '/')
        -- if $composed
        or starts_with(nfc_normalize(path) || '/', $composed || '/')
        -- end
    )
    -- if $begin
    and (
        starts_with(path, $begin)
        or (
            collection = split_part($begin, '/', 1)
            and starts_with(path, substr($begin, instr($begin, '/') + 1))
        )
        or strlen(path) <> length(path)
        or strlen(collection) <> length(collection)
    )
    -- end
order by collection, path
