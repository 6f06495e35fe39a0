-- State of all documents: a text that is another one as soon as a document is.
--
-- out  state  text
-- out  names  text  the same of their names alone
select
    count(*)::text || ':' || coalesce(bit_xor(hash(collection, path, documents.hash)), 0)::text as state,
    count(*)::text || ':' || coalesce(bit_xor(hash(collection, path)), 0)::text as names
from documents
