-- The vectors of texts.
--
-- in   $model_id  integer
-- in   texts      relation  number integer, hash text
-- out  number     integer   of the text
-- out  vector     float[]   of length 1
select number, vector
from texts
join chunks on texts.hash = chunks.hash
join embeddings on chunks.chunk_id = embeddings.chunk_id
where chunks.model_id = $model_id
order by number, seq
