-- The chunks of some documents, with a vector or without.
--
-- in   $model_id   integer
-- in   $documents  json     array of document_id
-- out  chunks      json     array of chunk_id
-- out  found       bigint   how many
select
    to_json(coalesce(list(chunk_id order by chunk_id), [])) as chunks,
    count(*) as found
from chunks
where
    model_id = $model_id
    and hash in (
        select hash
        from documents
        where document_id in (select unnest(from_json($documents, '["UINTEGER"]')))
    )
