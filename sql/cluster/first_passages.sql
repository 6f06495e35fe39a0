-- The vector of the first passage of some texts of one shard: see embeddings/first_passages.
--
-- in   $fingerprint  text     of the model
-- in   $limit        integer  texts
-- out  hash          text
-- out  vector        float[]  of length 1
select hash, vector
from embeddings
join chunks on embeddings.chunk_id = chunks.chunk_id
join embedding_models on embeddings.model_id = embedding_models.model_id
where fingerprint = $fingerprint and seq = 0
order by hash
limit $limit
