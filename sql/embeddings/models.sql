-- Models with vectors in the index, the newest first.
--
-- out  model_id     integer
-- out  fingerprint  text
-- out  name         text
-- out  dimensions   integer
-- out  chunks       bigint
-- out  embeddings   bigint
select
    model_id,
    fingerprint,
    name,
    dimensions,
    (select count(*) from chunks where chunks.model_id = models.model_id) as chunks,
    (select count(*) from embeddings where embeddings.model_id = models.model_id) as embeddings
from embedding_models as models
order by created desc, model_id desc
