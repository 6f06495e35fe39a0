-- Documents of a collection, or below one of its folders.
--
-- in   $collection  text?  null for all
-- in   $prefix      text   '' for all of it
-- in   $composed    text?  the same in NFC; null: it is ASCII
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
order by collection, path
