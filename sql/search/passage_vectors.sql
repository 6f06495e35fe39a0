-- Vectors of the passages of a text.
--
-- in   $model_id  integer
-- in   $hash      text     of the content
-- out  vector     float[]  of length 1
select vector
from embeddings
join chunks on embeddings.chunk_id = chunks.chunk_id
where embeddings.model_id = $model_id and chunks.hash = $hash
order by seq
