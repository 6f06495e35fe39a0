-- Texts without an outline, from before there were any.
--
-- in   $limit  integer  texts at most
-- in   $bytes  integer  of all of them at most; but one text in any case
-- out  hash    text
-- out  body    text     empty: it is a long one, in pieces
-- out  links   text[]   that only the reader of their files tells
-- out  path    text     of a document that has it; of a text that none has, any of Markdown
with lacking as (
    select rowid as place, hash, body
    from content
    where outline is null
    limit $limit
),

long as (
    select hash, sum(bytes) as bytes
    from text_pieces
    group by hash
),

chosen as (
    select place, lacking.hash, body
    from lacking
    left join long on lacking.hash = long.hash
    qualify
        row_number() over (order by place) = 1
        or sum(strlen(body) + coalesce(bytes, 0)) over (order by place) <= $bytes
),

told as (
    select hash, max(links) as links, min(path) as path
    from documents
    where hash in (select hash from chosen)
    group by hash
)

select chosen.hash, body, coalesce(links, []) as links, coalesce(path, 'text.md') as path
from chosen
left join told on chosen.hash = told.hash
order by place
