-- How much of what documents say has no vectors of a model yet.
--
-- in   $model_id    integer?  null: a model that is not here
-- out  documents    bigint    in all
-- out  lacking      bigint    documents without all of their vectors
-- out  vectors      bigint    of the model, with those of texts that no document has any more
with lacking as (
    select hash
    from (select distinct hash from documents)
    where hash not in (select hash from chunks where model_id = $model_id)
    union all
    select hash
    from chunks
    where
        model_id = $model_id
        and chunk_id not in (select chunk_id from embeddings where model_id = $model_id)
)

select
    (select count(*) from documents) as documents,
    (select count(*) from documents where hash in (select hash from lacking)) as lacking,
    (select count(*) from embeddings where model_id = $model_id) as vectors
