-- Names of documents of one shard most like one that was not found, with their distance: see
-- documents/similar.
--
-- in   $name       text
-- out  name        text     collection/path
-- out  distance    bigint   edits
-- out  collection  text
-- out  path        text
with asked as (
    select lower(right($name, 255)) as whole, lower(right(parse_filename($name), 255)) as last
),

known as (
    select
        collection,
        path,
        lower(right(collection || '/' || path, 255)) as whole,
        lower(right(path, 255)) as below,
        lower(right(parse_filename(path), 255)) as last
    from documents
)

select
    collection || '/' || path as name,
    least(
        levenshtein(known.last, asked.last),
        levenshtein(below, asked.whole),
        levenshtein(known.whole, asked.whole)
    ) as distance,
    collection,
    path
from known, asked
where
    jaro_winkler_similarity(known.last, asked.last) > 0.75
    or case
        when abs(length(known.whole) - length(asked.whole)) <= 1 + length(asked.whole) // 3
            then levenshtein(known.whole, asked.whole) <= 1 + length(asked.whole) // 3
        else false
    end
order by distance, collection, path
limit 5
