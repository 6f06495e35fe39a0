-- Texts that say nearly the same as a document, and the searches in the log that found it.
--
-- It runs in the sandbox, over the views.
--
-- in   $file   text       of `documents`
-- in   $most   integer    of each part at most
-- out  part    text       copy, version or search; a copy has the same text
-- out  text    text       title, or the query
-- out  file    text?      of the other document; null: of a search
-- out  moment  timestamp  UTC: date of the document, or of the latest such search
-- out  times   bigint     that the query was asked
-- out  total   bigint     of this part
with here as (
    select hash, group_id
    from documents
    left join near_duplicates using (document_id)
    where documents.file = $file
),

parts as (
    select
        case when documents.hash = here.hash then 'copy' else 'version' end as part,
        documents.title as text,
        documents.file,
        date as moment,
        1 as times
    from documents
    cross join here
    left join near_duplicates using (document_id)
    where
        documents.file <> $file
        and (documents.hash = here.hash or near_duplicates.group_id = here.group_id)
    union all
    select 'search', query, null, max(searched_at), count(*)
    from searches
    where list_contains(found, $file)
    group by query
)

select part, text, file, moment, times, count(*) over (partition by part) as total
from parts
qualify row_number() over (partition by part order by moment desc, text, file) <= $most
order by part, moment desc, text, file
