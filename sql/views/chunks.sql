-- Passages (chunks) of documents for a model, which vector search compares.
--
-- needs  documents
-- out  file         text      of `documents`
-- out  seq          uinteger  0, 1, 2 … within the document
-- out  line         uinteger  first line, from 1
-- out  position     uinteger  characters before it
-- out  length       uinteger  characters
-- out  tokens       uinteger  as the model counts
-- out  model        text      of `models`
-- out  text         text
-- out  chunk_id     uinteger  the same for all copies of a text
-- out  document_id  uinteger
create view chunks as
select
    file,
    seq,
    line,
    position,
    chunks.length,
    tokens,
    name as model,
    substring(body, position + 1, chunks.length) as text,
    chunk_id,
    document_id
from qmd_index.chunks
join documents on chunks.hash = documents.hash
join qmd_index.embedding_models on chunks.model_id = embedding_models.model_id
where fingerprint not like '%.draft'
