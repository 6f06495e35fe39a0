-- Documents that match a name.
--
-- in   $name        text
-- in   $last        text     what follows its last /
-- in   $composed    text?    the name in NFC; null: it is ASCII
-- out  rank         integer  0 collection/path, 1 path, 2 end of a path at a folder, 3 any of them,
--                            but for how characters are composed
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  dated        timestamp
-- out  modified     timestamp
-- out  size         bigint
select
    case
        when collection || '/' || path = $name then 0
        when path = $name then 1
        when ends_with('/' || collection || '/' || path, '/' || $name) then 2
        else 3
    end as rank,
    document_id, collection, path, title, hash, dated, modified, size
from documents
where
    -- most paths end in another way, which is quickly told
    ends_with(path, $last)
    and (path = $name or ends_with('/' || collection || '/' || path, '/' || $name))
    -- if $composed
    or ends_with(nfc_normalize('/' || collection || '/' || path), '/' || $composed)
    -- end
order by rank, collection, path
