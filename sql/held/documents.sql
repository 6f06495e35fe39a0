-- Documents, but for their texts.
--
-- in   $first       integer  lowest document_id
-- in   $last        integer  highest document_id
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text     of the content
-- out  matter       integer  characters before its text: of its front matter
-- out  lengths      double   occurrences of terms, weighted by field
-- out  path_starts  integer  position of the path's first word
-- out  body_starts  integer
-- out  lang         text     'en' also where nothing tells it
-- out  is_list      boolean  of links: qmd/text/link_lists.py
select
    document_id,
    collection,
    path,
    title,
    hash,
    coalesce(matter, 0) as matter,
    @title * title_length + @path * path_length + body_length as lengths,
    path_start as path_starts,
    body_start as body_starts,
    coalesce(lang, 'en') as lang,
    coalesce(link_percent >= @link_list, false) as is_list
from documents
where document_id between $first and $last
order by document_id
