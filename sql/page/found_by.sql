-- Searches in the log that found a document, the latest first.
--
-- It runs in the sandbox, over the views.
--
-- in   $file   text       of `documents`
-- in   $most   integer    searches at most
-- out  part    text       search
-- out  text    text       query
-- out  file    text?      null
-- out  moment  timestamp  UTC: of the latest such search
-- out  times   bigint     that the query was asked
-- out  total   bigint     searches in all
with asked as (
    select query, max(searched_at) as moment, count(*) as times
    from searches
    where list_contains(found, $file)
    group by query
)

select
    'search' as part,
    query as text,
    null::text as file,
    moment,
    times,
    count(*) over () as total
from asked
qualify row_number() over (order by moment desc, query) <= $most
order by moment desc, query
