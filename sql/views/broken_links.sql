-- Links that lead to a document or a heading that is not there.
--
-- What is no document of the index may still be a file: a link with an extension is here only if its
-- collection has documents with that one. Of a document without any headings none is missed.
--
-- needs  documents, links, headings
-- out  file         text      of `documents`
-- out  line         uinteger  from 1
-- out  kind         text      of `links`
-- out  text         text      as it is written
-- out  target       text      as it is written
-- out  missing      text      document or heading
-- out  document_id  uinteger  changes whenever the document does
create view broken_links as
with known as (
    select distinct collection, lower(regexp_extract(path, '\.(\w+)$', 1)) as extension
    from qmd_index.documents
),

slugs as (
    select file, unnest([slug, lower(text)]) as name
    from headings
),

missed as (
    select *, 'document' as missing
    from links
    where
        to_file is null
        and not external
        and (
            regexp_extract(target, '^[^#?]*\.(\w+)(?:[#?]|$)', 1) = ''
            or (
                split_part(file, '/', 1),
                lower(regexp_extract(target, '^[^#?]*\.(\w+)(?:[#?]|$)', 1))
            ) in (select (collection, extension) from known)
        )
    union all
    select links.*, 'heading'
    from links
    join documents as there on to_file = there.file
    where
        anchor[1] <> '^'
        and anchor <> 'top'
        and to_file in (select file from slugs)
        and (to_file, lower(url_decode(anchor))) not in (select (file, name) from slugs)
        and not contains(there.body, '"' || anchor || '"')  -- <a name="anchor">
)

select file, line, kind, text, target, missing, document_id
from missed
