-- Give the chunks of a draft to its model.
--
-- in   $model_id  integer
-- in   $draft_id  integer  model_id of the draft
update chunks
set model_id = $model_id
where model_id = $draft_id
