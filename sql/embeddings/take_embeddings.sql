-- Give the vectors of a draft to its model.
--
-- in   $model_id  integer
-- in   $draft_id  integer  model_id of the draft
update embeddings
set model_id = $model_id
where model_id = $draft_id
