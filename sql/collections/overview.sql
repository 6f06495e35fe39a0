-- Collections with the totals of their documents.
--
-- out  name       text
-- out  root       text
-- out  mask       text
-- out  included   boolean
-- out  documents  bigint
-- out  bytes      bigint      of the files
-- out  modified   timestamp?  UTC, of the file that changed last
select
    name,
    root,
    mask,
    included,
    count(document_id) as documents,
    coalesce(sum(size), 0)::bigint as bytes,
    max(modified) as modified
from collections
left join documents on name = collection
group by all
order by name
