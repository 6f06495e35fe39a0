-- Models with vectors: all that vectors depend on besides the text.
--
-- out  model_id       utinyint
-- out  fingerprint    text       XXH3-128 of the model, its prompts and how texts are cut
-- out  name           text
-- out  dimensions     usmallint  of a vector
-- out  chunk_tokens   uinteger   of a passage, at most
-- out  chunk_overlap  double     share of a passage that the next one repeats
-- out  created        timestamp  UTC
select model_id, fingerprint, name, dimensions, chunk_tokens, chunk_overlap, created
from embedding_models
