-- Remove the chunks of a draft whose texts have not got all of their vectors, and are cut for its
-- model as well.
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
