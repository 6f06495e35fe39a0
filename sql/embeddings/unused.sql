-- Vectors of models that are not in use, and of texts that no document has.
--
-- in   $models  json    array of model_id
-- out  vectors  bigint
select count(*) as vectors
from embeddings
where
    list_contains(from_json($models, '["UTINYINT"]'), model_id)
    or chunk_id not in (
        select chunk_id from chunks where hash in (select hash from documents)
    )
