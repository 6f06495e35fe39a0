-- Documents, of some, whose text has no vector of a model.
--
-- in   $model_id     integer
-- in   $documents    json     array of document_id
-- out  document_id   integer
select document_id
from documents
where
    document_id in (select unnest(from_json($documents, '["UINTEGER"]')))
    and hash not in (
        select hash
        from chunks
        where
            model_id = $model_id
            and chunk_id in (select chunk_id from embeddings where model_id = $model_id)
    )
