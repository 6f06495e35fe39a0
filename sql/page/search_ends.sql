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
    select 'unfound' as part, title as text, file, '' as note, file as key
    from never_found
    union all
    select 'vain', query, null, times::text, query from zero_result_searches
),

-- The first of each part alone are kept, of as many as there are documents.
counted as (
    select
        part,
        count(*) as total,
        unnest(min({'key': key, 'text': text, 'file': file, 'note': note}, $most)) as first
    from parts
    group by part
)

select part, first.text, first.file, null::uinteger as line, first.note, total
from counted
order by part, first.key
