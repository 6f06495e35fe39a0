-- Models with a vector of some record.
--
-- out  fingerprint  text
select fingerprint
from embedding_models
where
    model_id in (
        select chunks.model_id
        from experiences
        join documents on experiences.document_id = documents.document_id
        join chunks on documents.hash = chunks.hash
        semi join embeddings on chunks.chunk_id = embeddings.chunk_id
    )
order by fingerprint
