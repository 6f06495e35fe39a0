-- Names of texts with a signature, from the first document of each in order of collection and path.
--
-- in   $hashes  json    array, none twice
-- out  hash     text
-- out  title    text
-- out  path     text
-- out  named    bigint  texts with a signature and this title
with named as (
    select hash, min_by(title, (collection, path)) as title, min_by(path, (collection, path)) as path
    from documents
    where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
    group by hash
),

titled as (
    select hash, lower(min_by(title, (collection, path))) as title
    from documents
    where
        hash in (
            select other.hash
            from documents as other
            where lower(other.title) in (select lower(named.title) from named)
        )
        and hash in (select sketches.hash from sketches where octet_length(bins) > 0)
    group by hash
),

counted as (
    select title, count(*) as texts
    from titled
    group by title
)

select named.hash, named.title, named.path, counted.texts as named
from named
join counted on counted.title = lower(named.title)
