-- Passages of texts for a model.
--
-- in   $chosen   boolean?  true: only those of the chosen documents
-- out  chunk_id  uinteger  never used again
-- out  model_id  utinyint  of `embedding_models`
-- out  hash      text      of the text, as in `documents`
-- out  seq       uinteger  0, 1, 2 … within the text
-- out  position  uinteger  characters before it
-- out  length    uinteger  characters
-- out  line      uinteger  its first, from 1
-- out  tokens    uinteger  as the model counts
select chunk_id, model_id, hash, seq, position, length, line, tokens
from chunks
-- if $chosen
where $chosen and hash in (select hash from memory.chosen)
-- end
