-- Content that no document has.
--
-- The join has the hashes alone: it would read all texts, of which the bytes of few are asked for.
--
-- out  texts  bigint
-- out  bytes  bigint
with gone as materialized (
    select hash, strlen(body) as bytes
    from content
    where rowid in (select content.rowid from content anti join documents on content.hash = documents.hash)
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
