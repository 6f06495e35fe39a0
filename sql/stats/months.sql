-- Documents of each month, by their date, for each collection.
--
-- in   $collections  json?   array of names
-- out  month         date    its first day
-- out  collection    text
-- out  documents     bigint
-- out  bytes         bigint  of the files
select
    date_trunc('month', dated)::date as month,
    collection,
    count(*) as documents,
    sum(size)::bigint as bytes
from documents
where $collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection)
group by month, collection
order by month, collection
