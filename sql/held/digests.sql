-- A hash of each document, in no order, of all that its postings and its columns outside of the file depend on.
--
-- out  document_id  integer
-- out  digest       ubigint
select
    document_id,
    hash(
        collection, path, title, hash, matter, lang,
        title_length, path_length, body_length, path_start, body_start
    ) as digest
from documents
