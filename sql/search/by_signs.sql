-- The chunks whose vectors have most signs in common with the query's: candidates to compare.
--
-- The number of signs that differ grows with the angle between two vectors (random hyperplane
-- rounding: Charikar, STOC 2002); here the hyperplanes are the axes. A sign takes a thirty-second
-- part of the room of a number, so that far less has to be read.
--
-- in   $model_id    integer
-- in   $chunks      json?     array of chunk_id: no others
-- in   $signs       text      of the query: 0 and 1
-- in   $candidates  integer   chunks to find
-- out  chunks       json      array of chunk_id
with candidates as (
    select chunk_id
    from embeddings
    where
        model_id = $model_id
        -- if $chunks
        and chunk_id in (select unnest(from_json($chunks, '["UINTEGER"]')))
        -- end
    order by bit_count(xor(signs, $signs::bit)), chunk_id
    limit $candidates
)

select to_json(coalesce(list(chunk_id order by chunk_id), [])) as chunks
from candidates
