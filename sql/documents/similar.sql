-- Names of documents most like one that was not found, by edit distance of the whole and of the
-- last part.
--
-- Their last 255 characters are compared, the most that a part of a path has: the time that a
-- distance takes grows with the product of the lengths. It is at least their difference, and is
-- not counted where that is too large.
--
-- in   $name  text
-- out  name   text  collection/path
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

select collection || '/' || path as name
from known, asked
where
    jaro_winkler_similarity(known.last, asked.last) > 0.75
    or case
        when abs(length(known.whole) - length(asked.whole)) <= 1 + length(asked.whole) // 3
            then levenshtein(known.whole, asked.whole) <= 1 + length(asked.whole) // 3
        else false
    end
order by
    least(
        levenshtein(known.last, asked.last),
        levenshtein(below, asked.whole),
        levenshtein(known.whole, asked.whole)
    ),
    collection,
    path
limit 5
