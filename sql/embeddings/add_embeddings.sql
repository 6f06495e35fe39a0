-- Add the vectors of chunks that are still there and have none.
--
-- in   $model_id  integer
-- in   made       relation  chunk_id, vector, signs as text of 0 and 1
insert into embeddings
select chunk_id, $model_id, vector, signs::bit
from made
where
    chunk_id in (select chunk_id from chunks where model_id = $model_id)
    and chunk_id not in (select chunk_id from embeddings where model_id = $model_id)
order by chunk_id
