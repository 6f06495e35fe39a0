-- The number of a model in this index, and the width of its vectors.
--
-- in   $fingerprint  text
-- out  model_id      integer
-- out  dimensions    integer
select model_id, dimensions
from embedding_models
where fingerprint = $fingerprint
