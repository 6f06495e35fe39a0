-- Where chunks stand: each in every document that has its text.
--
-- in   $chunks      json     array of chunk_id, none twice
-- out  chunk_id     integer
-- out  collection   text
-- out  path         text
-- out  seq          integer  among the chunks of its text
-- out  document_id  integer
-- out  position     integer  of the chunk: characters before it
-- out  length       integer  characters
-- out  line         integer  first line, from 1
select chunks.chunk_id, collection, path, seq, document_id, position, length, line
from (select unnest(from_json($chunks, '["UINTEGER"]')) as chunk_id) as asked
join chunks on asked.chunk_id = chunks.chunk_id
join documents on chunks.hash = documents.hash
