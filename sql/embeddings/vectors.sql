-- Vectors of a model, with what `embeddings/signs` says of them, in order of their numbers.
--
-- in   $model_id  integer
-- in   $first     integer  a chunk_id: the lowest
-- in   $last      integer  the highest
-- in   $chunks    json?    array of chunk_id: no others
-- out  chunk_id   integer
-- out  sign       ubigint
-- out  vector     float[]
select chunk_id, hash(signs) as sign, vector
from embeddings
where
    model_id = $model_id
    and chunk_id between $first and $last
    -- if $chunks
    and chunk_id in (select unnest(from_json($chunks, '["UINTEGER"]')))
    -- end
order by chunk_id
