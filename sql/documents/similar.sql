-- Names of documents most like one that was not found, by edit distance of the whole and of the
-- last part.
--
-- in   $name  text
-- out  name   text  collection/path
select collection || '/' || path as name
from documents
where
    jaro_winkler_similarity(lower(parse_filename(path)), lower(parse_filename($name))) > 0.75
    or levenshtein(lower(collection || '/' || path), lower($name)) <= 1 + length($name) // 3
order by
    least(
        levenshtein(lower(parse_filename(path)), lower(parse_filename($name))),
        levenshtein(lower(path), lower($name)),
        levenshtein(lower(collection || '/' || path), lower($name))
    ),
    collection,
    path
limit 5
