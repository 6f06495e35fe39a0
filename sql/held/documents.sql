-- All documents, but for their texts.
--
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text     of the content
-- out  length       bigint   occurrences of terms
-- out  path_start   integer  position of the path's first word
-- out  body_start   integer
select
    document_id,
    collection,
    path,
    title,
    hash,
    title_length::bigint + path_length + body_length as length,
    path_start,
    body_start
from documents
order by document_id
