-- Vectors of passages, of length 1: list_inner_product of two is their cosine.
--
-- needs  chunks
-- out  file         text      of `documents`
-- out  seq          uinteger  of the passage within the document
-- out  line         uinteger  its first line, from 1
-- out  model        text      of `models`; compare only vectors of the same
-- out  vector       float[]
-- out  chunk_id     uinteger  of `chunks`
-- out  document_id  uinteger
create view embeddings as
select file, seq, line, model, vector, chunks.chunk_id, document_id
from qmd_index.embeddings
join chunks on embeddings.chunk_id = chunks.chunk_id
