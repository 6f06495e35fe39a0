-- Chunks in every document that has their text.
--
-- in   $most        bigint   rows at most
-- out  chunk_id     integer
-- out  document_id  integer
-- out  seq          integer  among the chunks of its text
-- out  position     integer  of the chunk: characters before it
-- out  length       integer  characters
-- out  line         integer  first line, from 1
select chunk_id, document_id, seq, position, length, line
from chunks
join documents on chunks.hash = documents.hash
order by chunk_id, document_id
limit $most
