-- Documents, but for their texts.
--
-- in   $since       integer? lowest document_id; null: all
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text     of the content
-- out  matter       integer  characters before its text: of its front matter
-- out  length       double   occurrences of terms, weighted by field
-- out  path_start   integer  position of the path's first word
-- out  body_start   integer
select
    document_id,
    collection,
    path,
    title,
    hash,
    coalesce(matter, 0) as matter,
    @title * title_length + @path * path_length + body_length as length,
    path_start,
    body_start
from documents
-- if $since
where document_id >= $since
-- end
order by document_id
