-- Counts of documents and their vectors of a model.
--
-- in   $model_id     integer?  null: a model that is not here
-- in   $collections  json?     array of names: only of their documents
-- out  documents     bigint    in all
-- out  lacking       bigint    documents without all of their vectors
-- out  vectors       bigint    of the model, with those of texts that no document has any more
with embedded as (
    select hash
    from chunks
    where model_id = $model_id
    group by hash
    having bool_and(chunk_id in (select chunk_id from embeddings where model_id = $model_id))
)

select
    count(*) as documents,
    count(*) - (
        select count(*)
        from documents
        semi join embedded using (hash)
        -- if $collections
        where list_contains(from_json($collections, '["VARCHAR"]'), collection)
        -- end
    ) as lacking,
    (select count(*) from embeddings where model_id = $model_id) as vectors
from documents
-- if $collections
where list_contains(from_json($collections, '["VARCHAR"]'), collection)
-- end
