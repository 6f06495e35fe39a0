-- Cached answers of models.
--
-- out  key      text       XXH3-128 of model, prompt and input
-- out  kind     text       'expansion' or 'rerank'
-- out  value    text       JSON
-- out  created  timestamp  UTC
select key, kind, value::text as value, created
from cache
