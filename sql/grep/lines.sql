-- Lines that a regular expression matches, by document.
--
-- A long text is searched piece by piece, but a line that is longer than a piece as a whole.
--
-- in   $pattern     text      for a line, in RE2 syntax
-- in   $whole       text?     for a text that may have such a line; null: any may
-- in   $inverted    boolean   take the lines that it does not match
-- in   $numbered    boolean   list them
-- in   $ids         json?     array of document_id: no others
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  hash         text
-- out  size         bigint    bytes of the text; 0: it is stored in pieces
-- out  matches      bigint
-- out  lines        bigint[]?  numbers of these lines, from 1, ascending; null: they are not listed
with chosen as (
    select document_id, collection, path, hash
    from documents
    where $ids is null or document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
),

ends as (
    select hash, number, lines, ends_with(text, chr(10)) as is_ended
    from text_pieces
    where hash in (select hash from chosen)
),

places as materialized (
    select
        hash,
        number,
        coalesce(sum(lines) over earlier, 0)::bigint as before,
        count(*) filter (where is_ended) over earlier as block,
        is_ended and coalesce(lag(is_ended) over (partition by hash order by number), true) as is_whole
    from ends
    window earlier as (partition by hash order by number rows between unbounded preceding and 1 preceding)
),

parts as (
    select hash, body, strlen(body) as size, 0::bigint as before
    from content
    where hash in (select hash from chosen) and body <> ''
    union all
    select text_pieces.hash, text, 0, before
    from text_pieces
    join places on text_pieces.hash = places.hash and text_pieces.number = places.number
    where is_whole
    union all
    select text_pieces.hash, string_agg(text, '' order by text_pieces.number), 0, min(before)
    from text_pieces
    join places on text_pieces.hash = places.hash and text_pieces.number = places.number
    where not is_whole
    group by text_pieces.hash, block
),

texts as (
    select hash, size, before, string_split(body, chr(10)) as lines
    from parts
    where $whole is null or regexp_matches(body, $whole)
),

numbered as (
    select
        hash,
        size,
        before,
        len(lines) as last,
        unnest(lines) as text,
        generate_subscripts(lines, 1) as line
    from texts
),

found as (
    select
        hash,
        any_value(size) as size,
        count(*) as matches,
        list(before + line order by before + line) filter (where $numbered) as lines
    from numbered
    where
        -- what follows the last line feed is no line
        (line < last or text <> '')
        and regexp_matches(rtrim(text, chr(13)), $pattern) <> $inverted
    group by hash
)

select document_id, collection, path, chosen.hash, size, matches, lines
from chosen
join found on chosen.hash = found.hash
order by collection, path
