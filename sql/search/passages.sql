-- Where chunks stand: each in every document that has its text.
--
-- in   $chunks      json     array of chunk_id
-- out  chunk_id     integer
-- out  collection   text
-- out  path         text
-- out  seq          integer  among the chunks of its text
-- out  document_id  integer
-- out  position     integer  of the chunk: characters before it
-- out  length       integer  characters
-- out  line         integer  first line, from 1
select chunk_id, collection, path, seq, document_id, position, length, line
from chunks
join documents on chunks.hash = documents.hash
where chunk_id in (select unnest(from_json($chunks, '["UINTEGER"]')))
