-- Collections, the largest first.
--
-- in   $collections  json?       array of names
-- out  name          text
-- out  documents     bigint
-- out  bytes         bigint      of the files
-- out  first         timestamp?  the earliest date of a document
-- out  last          timestamp?  the latest
select
    name,
    count(document_id) as documents,
    coalesce(sum(size), 0)::bigint as bytes,
    min(dated) as first,
    max(dated) as last
from collections
left join documents on name = collection
where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), name)
group by name
order by documents desc, name
