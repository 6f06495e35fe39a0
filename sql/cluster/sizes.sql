-- Sizes of the documents of one shard.
--
-- in   $collections  json?   array of names
-- out  size          bigint  bytes of the file
-- out  documents     bigint
select size::bigint as size, count(*) as documents
from documents
where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection)
group by size
order by size
