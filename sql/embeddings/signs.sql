-- Vectors of a model by number, with a hash that detects another index with the same numbers.
--
-- in   $model_id  integer
-- out  chunk_id   integer
-- out  sign       ubigint  a hash of the vector's signs
select chunk_id, hash(signs) as sign
from embeddings
where model_id = $model_id
