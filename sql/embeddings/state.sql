-- State of the vectors of a model, by which another process tells whether it has the same.
--
-- in   $model_id    integer
-- out  fingerprint  text
-- out  created      text     when the model came into this index: another index has another time
-- out  dimensions   integer
-- out  vectors      bigint
-- out  digest       text     of the numbers and signs of all vectors, whatever their order
select
    fingerprint,
    created::varchar as created,
    dimensions,
    (select count(*) from embeddings where embeddings.model_id = $model_id) as vectors,
    (
        select coalesce(bit_xor(hash(chunk_id, signs)), 0)
        from embeddings
        where embeddings.model_id = $model_id
    )::varchar as digest
from embedding_models
where model_id = $model_id
