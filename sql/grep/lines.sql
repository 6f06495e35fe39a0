-- Lines of documents that a regular expression matches, with the texts that they are of.
--
-- in   $pattern     text      for a line, in RE2 syntax
-- in   $inverted    boolean   give the lines that it does not match
-- in   $ids         json      array of document_id
-- out  document_id  integer
-- out  body         text
-- out  lines        bigint[]  numbers of lines, from 1, ascending
with chosen as (
    select document_id, hash
    from documents
    where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
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
    select document_id, body, string_split(body, chr(10)) as lines
    from chosen
    join bodies on chosen.hash = bodies.hash
    where body <> ''
),

numbered as (
    select
        document_id,
        len(lines) as last,
        unnest(lines) as text,
        generate_subscripts(lines, 1) as line
    from texts
),

found as (
    select document_id, list(line order by line) as lines
    from numbered
    where
        (line < last or text <> '')
        and regexp_matches(rtrim(text, chr(13)), $pattern) <> $inverted
    group by document_id
)

select texts.document_id, body, found.lines
from texts
join found on texts.document_id = found.document_id
order by texts.document_id
