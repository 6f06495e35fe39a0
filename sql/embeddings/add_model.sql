-- Add a model.
--
-- in   $model_id       integer
-- in   $fingerprint    text
-- in   $name           text
-- in   $dimensions     integer
-- in   $chunk_tokens   integer  of a chunk, at most
-- in   $chunk_overlap  double   share of a chunk that the next one repeats
insert into embedding_models
select
    $model_id,
    $fingerprint,
    $name,
    $dimensions,
    $chunk_tokens,
    $chunk_overlap,
    now() at time zone 'UTC'
