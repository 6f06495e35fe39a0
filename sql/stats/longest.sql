-- The longest documents.
--
-- in   $collections  json?    array of names
-- in   $limit        integer
-- out  docid         text     # and six hex digits
-- out  file          text     collection/path
-- out  title         text
-- out  bytes         bigint   of the file
select
    '#' || hash[:6] as docid,
    collection || '/' || path as file,
    title,
    size::bigint as bytes
from documents
where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection)
order by bytes desc, file
limit $limit
