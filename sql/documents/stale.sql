-- Documents whose postings were made by earlier rules, the last ones first.
--
-- in   $limit       integer  documents at most
-- in   $bytes       integer  of their texts at most; but one document in any case
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  body         text     empty: it is a long one, in pieces
-- out  matter       integer   characters of its front matter
-- out  metadata     json?
with stale as (
    select document_id, collection, path, title, hash, coalesce(matter, 0) as matter, metadata
    from documents
    where document_id < (select value from counters where name = 'stale_postings')
    order by document_id desc
    limit $limit
),

long as (
    select hash, sum(bytes) as bytes
    from text_pieces
    group by hash
)

select document_id, collection, path, title, content.hash, body, matter, metadata
from stale
join content on stale.hash = content.hash
left join long on stale.hash = long.hash
qualify
    row_number() over (order by document_id desc) = 1
    or sum(strlen(body) + coalesce(bytes, 0)) over (order by document_id desc) <= $bytes
order by document_id desc
