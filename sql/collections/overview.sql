-- Collections with the totals of their documents.
--
-- out  name            text
-- out  root            text
-- out  mask            text
-- out  included        boolean
-- out  documents       bigint
-- out  bytes           bigint      of the files
-- out  modified        timestamp?  UTC, of the file that changed last
-- out  data_documents  bigint      with data, such as base64, which is neither searched nor embedded
-- out  data_bytes      bigint      of that data
select
    name,
    root,
    mask,
    included,
    count(document_id) as documents,
    coalesce(sum(size), 0)::bigint as bytes,
    max(modified) as modified,
    count(*) filter (data_bytes > 0) as data_documents,
    coalesce(sum(data_bytes), 0)::bigint as data_bytes
from collections
left join documents on name = collection
group by all
order by name
