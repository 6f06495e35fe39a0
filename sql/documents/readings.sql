-- What readers have made of files before.
--
-- in   $asked  json   array of digest and reader, with a blank between
-- out  digest  text
-- out  reader  text
-- out  hash    text?  of the content; null: it could not be read
-- out  said    text   JSON
-- out  body    text?  empty: it is a long one, in pieces
with
found as materialized (
    select digest, reader, hash, said::text as said
    from readings
    where digest || ' ' || reader in (select unnest(from_json($asked, '["VARCHAR"]')))
),
-- first, or the join would hold the bodies of all texts
bodies as materialized (
    select hash, body
    from content
    where hash in (select hash from found)
)
select digest, reader, found.hash, said, body
from found
left join bodies on found.hash = bodies.hash
where found.hash is null or body is not null
