-- Chunks with vectors that came after another one, with those already known.
--
-- in   $model_id  integer
-- in   $after     integer  a chunk_id
-- in   $known     json     array of chunk_id
-- out  chunks     json     array of chunk_id
select to_json(list(chunk_id order by chunk_id)) as chunks
from (
    select chunk_id
    from embeddings
    where model_id = $model_id and chunk_id > $after
    union
    select unnest(from_json($known, '["UINTEGER"]'))
)
