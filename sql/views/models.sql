-- Models with vectors in the index.
--
-- out  model          text       as index.yml names it
-- out  dimensions     usmallint  of a vector
-- out  chunks         bigint     passages cut for it
-- out  vectors        bigint     those of them that have one
-- out  chunk_tokens   uinteger   of a passage, at most
-- out  chunk_overlap  double     share of a passage that the next one repeats
-- out  created        timestamp  UTC, when the first vector was made
-- out  fingerprint    text       of all that a vector depends on
-- out  model_id       utinyint
create view models as
select
    name as model,
    dimensions,
    (select count(*) from qmd_index.chunks where chunks.model_id = models.model_id) as chunks,
    (select count(*) from qmd_index.embeddings where embeddings.model_id = models.model_id)
        as vectors,
    chunk_tokens,
    chunk_overlap,
    created,
    fingerprint,
    model_id
from qmd_index.embedding_models as models
where fingerprint not like '%.draft'
