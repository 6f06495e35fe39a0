-- Tags of documents: `#tag` in the text, and those of `tags` or `tag` in the frontmatter.
--
-- needs  marks, documents
-- out  file         text       of `documents`
-- out  tag          text       as it is written, without #
-- out  line         uinteger?  from 1; null: it is in the frontmatter alone
-- out  document_id  uinteger   changes whenever the document does
create view tags as
with told as (
    select file, unnest(tags) as tag, document_id
    from documents
)

select file, text as tag, line, document_id
from marks
where kind = 'tag'
union all
select file, tag, null, document_id
from told
where (document_id, tag) not in (select (document_id, text) from marks where kind = 'tag')
