-- Content that no document has.
--
-- out  texts  bigint
-- out  bytes  bigint
with gone as materialized (
    select content.hash, strlen(body) as bytes
    from content
    anti join documents on content.hash = documents.hash
)

select
    count(*) as texts,
    (
        coalesce(sum(bytes), 0)
        + (
            select coalesce(sum(text_pieces.bytes), 0)
            from text_pieces
            where hash in (select hash from gone)
        )
    )::bigint as bytes
from gone
