-- Texts with chunks that may have data, by hash.
--
-- in   $after   text      a hash: only those behind it
-- in   $limit   integer   texts at most
-- in   $bytes   integer   of them at most; but one text in any case
-- out  hash     text
-- out  body     text      empty: it is a long one, in pieces
-- out  matter   integer   characters of its front matter
with stale as (
    select hash
    from chunks
    where
        chunk_id < (select value from counters where name = 'stale_chunks')
        and hash > $after
    group by hash
    order by hash
    limit $limit
),

long as (
    select hash, sum(bytes) as bytes
    from text_pieces
    group by hash
)

select
    content.hash,
    body,
    coalesce((select min(matter) from documents where documents.hash = content.hash), 0) as matter
from stale
join content on stale.hash = content.hash
left join long on stale.hash = long.hash
qualify
    row_number() over (order by content.hash) = 1
    or sum(strlen(body) + coalesce(long.bytes, 0)) over (order by content.hash) <= $bytes
order by content.hash
