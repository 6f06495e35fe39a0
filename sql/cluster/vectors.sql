-- The number of vectors of a model.
--
-- in   $model_id  integer
-- out  vectors    bigint
select count(*) as vectors from embeddings where model_id = $model_id
