-- Loose ends: links that lead nowhere, documents without links to them or never found, searches in vain.
--
-- It runs in the sandbox, over the views.
--
-- in   $most   integer  of each
-- out  part    text     broken, vain, orphan or unfound
-- out  text    text     of the link, the query, or the title of the document
-- out  file    text?    of the document; null: of a query
-- out  line    uinteger? of the link
-- out  note    text     target of the link, or how often a query was made
-- out  total   bigint   of this part
with parts as (
    select 'broken' as part, text, file, line, target as note, file as key from broken_links
    union all
    select 'orphan', title, file, null, '', file from orphans
    union all
    select 'unfound', title, file, null, '', file from never_found
    union all
    select 'vain', query, null, null, times::text, query from zero_result_searches
),

counted as (
    select *, count(*) over (partition by part) as total
    from parts
    qualify row_number() over (partition by part order by key, line) <= $most
)

select part, text, file, line, note, total
from counted
order by part, key, line
