-- Forget a model that has no chunks any more.
--
-- in   $model_id  integer
delete from embedding_models
where model_id = $model_id
