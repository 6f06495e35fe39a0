-- Texts that say the same as a document, or nearly the same.
--
-- It runs in the sandbox, over the views.
--
-- in   $file   text       of `documents`
-- in   $most   integer    of each part at most
-- out  part    text       copy or version; a copy has the same text
-- out  text    text       title
-- out  file    text       of the other document
-- out  moment  timestamp  UTC: date of the document
-- out  times   integer    1
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
)

select part, text, file, moment, times, count(*) over (partition by part) as total
from parts
qualify row_number() over (partition by part order by moment desc, text, file) <= $most
order by part, moment desc, text, file
