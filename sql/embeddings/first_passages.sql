-- The vector of the first passage of some texts, those with the lowest hashes: as good as any.
--
-- in   $model_id  integer
-- in   $limit     integer  texts
-- out  vector     float[]  of length 1
select vector
from embeddings
join chunks on embeddings.chunk_id = chunks.chunk_id
where embeddings.model_id = $model_id and seq = 0
order by hash
limit $limit
