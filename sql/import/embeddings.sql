-- Add vectors.
--
-- in   made  relation  chunk_id, model_id, vector, signs as text of 0 and 1
insert into embeddings by name
select chunk_id, model_id, vector, signs::bit as signs
from made
