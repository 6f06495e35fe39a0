-- Texts without an outline, from before there were any.
--
-- in   $limit  integer  texts at most
-- in   $bytes  integer  of all of them at most; but one text in any case
-- out  hash    text
-- out  body    text
with lacking as (
    select rowid as place, hash, body
    from content
    where outline is null
    limit $limit
)

select hash, body
from lacking
qualify
    row_number() over (order by place) = 1
    or sum(strlen(body)) over (order by place) <= $bytes
order by place
