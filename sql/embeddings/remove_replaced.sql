-- Remove the chunks of a model whose texts have chunks in its draft.
--
-- in   $model_id  integer
-- in   $draft_id  integer  model_id of the draft
delete from chunks
where
    model_id = $model_id
    and hash in (select hash from chunks where model_id = $draft_id)
