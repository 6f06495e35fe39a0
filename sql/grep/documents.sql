-- Documents with lines that a regular expression matches, and how many such lines each has.
--
-- in   $pattern     text      for a line, in RE2 syntax
-- in   $whole       text?     for a text that may have such a line; null: any may
-- in   $inverted    boolean   count the lines that it does not match
-- in   $ids         json?     array of document_id: no others
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  matches      bigint    lines
-- out  size         bigint    bytes of the text
with chosen as (
    select document_id, collection, path, hash
    from documents
    where $ids is null or document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
),

bodies as (
    select hash, body
    from content
    where hash in (select hash from chosen)
    union all
    select hash, string_agg(text, '' order by number) as body
    from text_pieces
    where hash in (select hash from chosen)
    group by hash
),

texts as (
    select hash, strlen(body) as size, string_split(body, chr(10)) as lines
    from bodies
    where body <> '' and ($whole is null or regexp_matches(body, $whole))
),

numbered as (
    select hash, size, len(lines) as last, unnest(lines) as text, generate_subscripts(lines, 1) as line
    from texts
),

found as (
    select hash, count(*) as matches, any_value(size) as size
    from numbered
    where
        -- what follows the last line feed is no line
        (line < last or text <> '')
        and regexp_matches(rtrim(text, chr(13)), $pattern) <> $inverted
    group by hash
)

select document_id, collection, path, matches, size
from chosen
join found on chosen.hash = found.hash
order by collection, path
