-- Documents with vectors of a model, by path. If there are too many, those with the lowest hashes: a fixed
-- sample.
--
-- in   $model_id     integer
-- in   $collections  json?    array of names
-- in   $limit        integer
-- out  document_id   integer
-- out  collection    text
-- out  path          text
-- out  title         text
-- out  hash          text     of the content
-- out  total         bigint   all that could be here
with embedded as (
    select distinct hash
    from chunks
    where
        model_id = $model_id
        and chunk_id in (select chunk_id from embeddings where model_id = $model_id)
)

select document_id, collection, path, title, hash, count(*) over () as total
from documents
where
    hash in (select hash from embedded)
    and ($collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection))
qualify row_number() over (order by hash, document_id) <= $limit
order by collection, path
