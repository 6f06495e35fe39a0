-- The document at a path of a collection; after it, those whose paths only differ in how characters
-- are composed.
--
-- in   $collection  text
-- in   $path        text
-- in   $composed    text?      the same in NFC; null: it is ASCII
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
    collection = $collection
    and (
        path = $path
        -- if $composed
        or nfc_normalize(path) = $composed
        -- end
    )
-- if $composed
order by path != $path, path
-- end
