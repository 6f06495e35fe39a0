-- State of all documents: a text that is another one as soon as a document is.
--
-- out  state  text
select count(*)::text || ':' || coalesce(bit_xor(hash(collection, path, documents.hash)), 0)::text as state
from documents
