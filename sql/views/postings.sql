-- Postings: occurrences of terms in documents. A term is the stem of a word.
--
-- out  term             text
-- out  file             text        of `documents`
-- out  title_frequency  uinteger    occurrences in the title
-- out  path_frequency   uinteger    occurrences in the path
-- out  body_frequency   uinteger    occurrences in the body
-- out  length           uinteger    occurrences of all terms in the document
-- out  positions        uinteger[]  in words from the start of the title, ascending
-- out  term_id          bigint
-- out  document_id      uinteger
create view postings as
with known as (
    select term_id, any_value(term) as term
    from qmd_index.words
    group by term_id
)

select
    term,
    collection || '/' || path as file,
    title_frequency,
    path_frequency,
    body_frequency,
    title_length + path_length + body_length as length,
    positions,
    postings.term_id,
    postings.document_id
from qmd_index.postings
join known on postings.term_id = known.term_id
join qmd_index.documents on postings.document_id = documents.document_id
