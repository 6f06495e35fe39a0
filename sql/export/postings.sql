-- Postings: occurrences of a term in a document.
--
-- in   $chosen          boolean?    true: only those of the chosen documents
-- out  term_id          bigint      of `words`
-- out  document_id      uinteger    of `documents`
-- out  title_frequency  uinteger    occurrences in the title
-- out  path_frequency   uinteger    in the path
-- out  body_frequency   uinteger    in the body
-- out  length           uinteger    occurrences of all terms in the document
-- out  positions        uinteger[]  in words from the start of the title, ascending
select
    term_id,
    postings.document_id,
    title_frequency,
    path_frequency,
    body_frequency,
    title_length + path_length + body_length as length,
    positions
from postings
join documents on postings.document_id = documents.document_id
anti join tombstones on postings.document_id = tombstones.document_id
-- if $chosen
where $chosen and postings.document_id in (select document_id from memory.chosen)
-- end
