-- Vectors of passages. Those of different models must not be compared.
--
-- in   $chosen   boolean?  true: only those of the chosen documents
-- out  chunk_id  uinteger  of `chunks`
-- out  model_id  utinyint  of `embedding_models`
-- out  vector    float[]   of length 1: the product of two is their cosine
select chunk_id, model_id, vector
from embeddings
-- if $chosen
where
    $chosen
    and chunk_id in (
        select chunk_id
        from chunks
        where hash in (select hash from memory.chosen)
    )
-- end
