-- Some vectors of a model, those of the lowest numbers first.
--
-- in   $model_id  integer
-- in   $after     integer  a chunk_id: of higher ones
-- in   $limit     integer
-- out  chunk_id   integer
-- out  vector     float[]
select chunk_id, vector
from embeddings
where model_id = $model_id and chunk_id > $after
order by chunk_id
limit $limit
