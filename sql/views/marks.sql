-- Headings, links and tags as they stand in the texts of Markdown documents, in one table.
--
-- out  file         text       of `documents`
-- out  collection   text
-- out  path         text       below the folder of the collection
-- out  line         uinteger   from 1
-- out  kind         text       1 to 6: level of a heading; tag; inline, reference, wiki, autolink, image, embed
-- out  text         text       of a heading, a link or a tag, as it is written
-- out  target       text       of a link, as it is written; else empty
-- out  document_id  uinteger   changes whenever the document does
create view marks as
with written as (
    select
        hash,
        unnest(string_split(outline.kinds, '')) as letter,
        unnest(string_split(outline.lines, ' ')) as line,
        unnest(outline.texts) as text,
        unnest(outline.targets) as target
    from qmd_index.content
    where outline.kinds <> ''
)

select
    collection || '/' || path as file,
    collection,
    path,
    line::uinteger as line,
    case letter
        when 'i' then 'inline'
        when 'r' then 'reference'
        when 'w' then 'wiki'
        when 'a' then 'autolink'
        when 'p' then 'image'
        when 'e' then 'embed'
        when 't' then 'tag'
        else letter
    end as kind,
    text,
    target,
    document_id
from written
join qmd_index.documents on written.hash = documents.hash
-- a text has an outline whatever its file is called
where
    regexp_matches(path, '(?i)\.(md|markdown|mdx|mdown|mkd|qmd|rmd|txt)$')
    or (reader is not null and not regexp_matches(reader, '^(text|csv_rows|json_text) '))
