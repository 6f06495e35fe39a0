-- Facets of documents: how many of some there are of each collection, folder, tag, kind and year.
--
-- in   $ids       json     array of document_id
-- in   $depth     integer  folders of a path that are one value, from 1
-- in   $most      integer  values of a facet at most: the most frequent
-- out  facet      text     collection, folder, tag, kind, year
-- out  value      text     of a kind the suffix in lower case, without a dot
-- out  documents  bigint
with among as (
    select
        document_id,
        collection,
        string_split(path, '/') as parts,
        lower(regexp_extract(path, '\.([A-Za-z0-9]{1,12})$', 1)) as suffix,
        tags,
        dated
    from documents
    where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
),

valued as (
    select document_id, 'collection' as facet, collection as value from among
    union all
    select document_id, 'folder', collection || '/' || array_to_string(parts[1:$depth], '/')
    from among
    where len(parts) > $depth
    union all
    select document_id, 'tag', unnest(tags) from among
    union all
    select document_id, 'kind', suffix from among where suffix <> ''
    union all
    select document_id, 'year', year(dated)::text from among
),

-- Tea and tea are one tag.
counted as (
    select facet, max(value) as shown, count(distinct document_id) as documents
    from valued
    group by facet, case when facet = 'tag' then lower(value) else value end
)

select facet, shown as value, documents
from counted
qualify row_number() over (partition by facet order by documents desc, shown) <= $most
order by facet, documents desc, value
