-- Chunks of documents that have no vector yet.
--
-- in   $model_id     integer
-- in   $collections  json?    array of names
-- out  chunk_id      integer
-- out  hash          text
-- out  position      integer  characters before it
-- out  length        integer  characters
-- out  line          integer  first line, from 1
-- out  tokens        integer
select chunk_id, hash, position, length, line, tokens
from chunks
where
    model_id = $model_id
    and chunk_id not in (select chunk_id from embeddings where model_id = $model_id)
    and hash in (
        select hash
        from documents
        where
            $collections is null
            or list_contains(from_json($collections, '["VARCHAR"]'), collection)
    )
order by hash, seq
