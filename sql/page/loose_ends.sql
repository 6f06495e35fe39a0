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

counted as (
    select *, count(*) over (partition by part) as total
    from parts
    qualify row_number() over (partition by part order by file, line) <= $most
)

select part, text, file, line, note, total
from counted
order by part, file, line
