-- Those of some documents whose file is another of them, in an inner collection.
--
-- in   $ids         json  array of document_id
-- in   $overlaps    json  array of {outer, inner, prefix}: the names of two collections, and what paths
--                         of the outer one begin with that are inside of the inner one
-- out  document_id  integer
with
asked as materialized (
    select document_id, collection, path
    from documents
    where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
),
pairs as (
    select unnest(
        from_json($overlaps, '[{"outer": "VARCHAR", "inner": "VARCHAR", "prefix": "VARCHAR"}]'),
        recursive := true
    )
)
select distinct copied.document_id
from pairs
join asked as copied on copied.collection = pairs.outer and starts_with(copied.path, pairs.prefix)
join asked as kept on kept.collection = pairs.inner and copied.path = pairs.prefix || kept.path
order by copied.document_id
