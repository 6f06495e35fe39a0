-- Documents of each value of a facet. See documents/facets, for folders of one level.
--
-- out  facet   text        collection, folder, tag, kind, year
-- out  value   text        as it is written
-- out  called  text        the same for values that are one: of a tag, in lower case
-- out  ids     uinteger[]  document_id, none twice
with valued as (
    select document_id, 'collection' as facet, collection as value from documents
    union all
    select document_id, 'folder', collection || '/' || split_part(path, '/', 1)
    from documents
    where contains(path, '/')
    union all
    select document_id, 'tag', unnest(tags) from documents
    union all
    select document_id, 'kind', lower(regexp_extract(path, '\.([A-Za-z0-9]{1,12})$', 1))
    from documents
    where regexp_matches(path, '\.([A-Za-z0-9]{1,12})$')
    union all
    select document_id, 'year', year(dated)::text from documents
)

select
    facet,
    value,
    case when facet = 'tag' then lower(value) else value end as called,
    list(distinct document_id) as ids
from valued
where value is not null
group by facet, value
order by facet, value
