-- Which vectors a model has, each told apart from others that had its number in another index.
--
-- in   $model_id  integer
-- out  chunk_id   integer
-- out  sign       ubigint  a hash of the vector's signs
select chunk_id, hash(signs) as sign
from embeddings
where model_id = $model_id
