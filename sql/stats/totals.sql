-- Totals of the documents.
--
-- in   $collections  json?       array of names
-- out  documents     bigint
-- out  bytes         bigint      of the files
-- out  first         timestamp?  the earliest date
-- out  last          timestamp?  the latest
-- out  median        bigint?     bytes of a file
-- out  largest       bigint?
select
    count(*) as documents,
    coalesce(sum(size), 0)::bigint as bytes,
    min(dated) as first,
    max(dated) as last,
    quantile_disc(size, 0.5)::bigint as median,
    max(size)::bigint as largest
from documents
where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection)
