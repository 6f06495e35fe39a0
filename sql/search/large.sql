-- Documents whose texts may be so large that they are taken piece by piece.
--
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  matter       integer  characters before its text: of its front matter
select document_id, collection, path, title, hash, coalesce(matter, 0) as matter
from documents
where size > 4000000 or body_length > 400000
