-- Tags of documents: `#tag` in the text, and those of `tags` or `tag` in the frontmatter.
--
-- needs  marks, frontmatter
-- out  file         text       of `documents`
-- out  tag          text       as it is written, without #; in the frontmatter it ends at a blank or comma
-- out  line         uinteger?  from 1; null: it is in the frontmatter
-- out  document_id  uinteger   changes whenever the document does
create view tags as
with given as (
    -- tags in one text stand between commas or blanks
    select file, unnest(regexp_split_to_array(value, '[,\s]+')) as tag, document_id
    from frontmatter
    where key in ('tags', 'tag')
)

select file, text as tag, line, document_id
from marks
where kind = 'tag'
union all
select file, ltrim(tag, '#'), null, document_id
from given
where ltrim(tag, '#') <> ''
