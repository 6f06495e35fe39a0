-- Documents whose names begin with a text, or have it, in any letters: to complete what is typed.
--
-- in   $typed      text
-- in   $limit      integer  documents at most
-- out  collection  text
-- out  path        text
-- out  total       bigint   of all that fit
with named as (
    select collection, path, lower(collection || '/' || path) as name
    from documents
    where contains(lower(collection || '/' || path), lower($typed))
)

select collection, path, count(*) over () as total
from named
order by not starts_with(name, lower($typed)), length(name), collection, path
limit $limit
