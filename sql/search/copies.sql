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
),
-- as the outer collection names the files of the inner one: a join of two columns each, by hashes
inside as (
    select pairs.outer as collection, pairs.prefix || asked.path as path
    from pairs
    join asked on asked.collection = pairs.inner
)
select document_id
from asked
semi join inside using (collection, path)
order by document_id
