-- Remove a model without chunks.
--
-- in   $model_id  integer
delete from embedding_models
where model_id = $model_id
