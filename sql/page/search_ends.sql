-- Loose ends of searches: those in vain, and documents that none has found.
--
-- It runs in the sandbox, over the views.
--
-- in   $most   integer  of each
-- out  part    text     vain or unfound
-- out  text    text     the query, or the title of the document
-- out  file    text?    of the document; null: of a query
-- out  line    uinteger? always null
-- out  note    text     how often a query was made
-- out  total   bigint   of this part
with parts as (
    select 'unfound' as part, title as text, file, null::uinteger as line, '' as note, file as key
    from never_found
    union all
    select 'vain', query, null, null, times::text, query from zero_result_searches
),

counted as (
    select *, count(*) over (partition by part) as total
    from parts
    qualify row_number() over (partition by part order by key) <= $most
)

select part, text, file, line, note, total
from counted
order by part, key
