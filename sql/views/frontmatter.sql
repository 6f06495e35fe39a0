-- Frontmatter: a row for each value; a list has one for each of its elements.
--
-- needs  documents
-- out  file         text       of `documents`
-- out  key          text       of the top level, as it is written
-- out  value        text?      an object is JSON
-- out  position     bigint     of the value in its list, from 1; 1 if it is no list
-- out  document_id  uinteger
create view frontmatter as
with entries as (
    select
        file,
        document_id,
        unnest(json_keys(metadata)) as key,
        metadata
    from documents
    where json_type(metadata) = 'OBJECT'
),

valued as (
    select *, json_extract(metadata, '/' || replace(replace(key, '~', '~0'), '/', '~1')) as found
    from entries
),

listed as (
    select
        *,
        case when json_type(found) = 'ARRAY' then json_extract(found, '$[*]') else [found] end
            as elements
    from valued
)

select
    file,
    key,
    unnest(elements) ->> '$' as value,
    unnest(range(1, len(elements) + 1)) as position,
    document_id
from listed
