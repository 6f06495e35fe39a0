-- Loose ends of links: those that lead nowhere, and documents that no other one links to.
--
-- It runs in the sandbox, over the views.
--
-- in   $most   integer  of each
-- out  part    text     broken or orphan
-- out  text    text     of the link, or the title of the document
-- out  file    text     of the document
-- out  line    uinteger? of the link
-- out  note    text     target of the link
-- out  total   bigint   of this part
with parts as (
    select 'broken' as part, text, file, line, target as note from broken_links
    union all
    select 'orphan', title, file, null, '' from orphans
),

-- The first of each part alone are kept, of hundreds of thousands.
counted as (
    select
        part,
        count(*) as total,
        unnest(min({'file': file, 'line': line, 'text': text, 'note': note}, $most)) as first
    from parts
    group by part
)

select part, first.text, first.file, first.line, first.note, total
from counted
order by part, first.file, first.line, first.text, first.note
