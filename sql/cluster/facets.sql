-- Facets of all shards, from those of each; see documents/facets.
--
-- in   $rows      json     array of {facet, value, documents}
-- in   $most      integer  values of a facet at most: the most frequent
-- out  facet      text
-- out  value      text
-- out  documents  bigint
with given as (
    select unnest(
        from_json($rows, '[{"facet": "VARCHAR", "value": "VARCHAR", "documents": "BIGINT"}]'),
        recursive := true
    )
),

-- Tea and tea are one tag.
counted as (
    select facet, max(value) as shown, sum(documents)::bigint as documents
    from given
    group by facet, case when facet = 'tag' then lower(value) else value end
)

select facet, shown as value, documents
from counted
qualify row_number() over (partition by facet order by documents desc, shown) <= $most
order by facet, documents desc, value
