-- Documents by collection, folder, tag and kind of file, the most common first.
--
-- It runs in the sandbox, over the views.
--
-- in   $most      integer  of each
-- out  part       text     collection, folder, tag or kind
-- out  name       text     of a folder, with its collection
-- out  documents  bigint
with parts as (
    select 'collection' as part, collection as name from documents
    union all
    select 'folder', collection || '/' || split_part(path, '/', 1)
    from documents
    where contains(path, '/')
    union all
    select 'tag', unnest(tags) from documents
    union all
    select 'kind', lower(regexp_extract(path, '\.([A-Za-z0-9]{1,12})$', 1)) from documents
)

select part, name, count(*) as documents
from parts
where name != ''
group by part, name
qualify row_number() over (partition by part order by count(*) desc, name) <= $most
order by part, documents desc, name
