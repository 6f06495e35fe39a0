-- Documents among some, the newest first.
--
-- in   $ids        json       array of document_id
-- in   $skip       integer    documents that are left out before
-- in   $limit      integer    documents at most
-- out  file        text       collection/path
-- out  title       text
-- out  dated       timestamp  UTC
-- out  opening     text       first characters of the text after the front matter
with chosen as (
    select collection, path, title, dated, hash
    from documents
    where document_id in (select unnest(from_json($ids, '["UINTEGER"]')))
    order by dated desc, collection, path
    limit $limit offset $skip
),

-- Only the texts of these are read.
bodies as (
    select hash, body
    from content
    where hash in (select hash from chosen)
    union all
    select hash, string_agg(text, '' order by number) as body
    from text_pieces
    where hash in (select hash from chosen)
    group by hash
)

select
    collection || '/' || path as file,
    title,
    dated,
    left(
        trim(regexp_replace(left(body, 4000), '^(---|\+\+\+)\r?\n.*?\n(---|\+\+\+)\r?\n', '', 's')), 600
    ) as opening
from chosen
join bodies on chosen.hash = bodies.hash
where body <> ''
order by dated desc, collection, path
