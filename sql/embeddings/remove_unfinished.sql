-- Remove the chunks of a draft whose texts lack vectors, if the model has chunks of them as well.
--
-- in   $model_id  integer
-- in   $draft_id  integer  model_id of the draft
delete from chunks
where
    model_id = $draft_id
    and hash in (select hash from chunks where model_id = $model_id)
    and hash in (
        select hash
        from chunks
        where model_id = $draft_id and chunk_id not in (select chunk_id from embeddings)
    )
