-- Content that no document has.
--
-- out  texts  bigint
-- out  bytes  bigint
select
    count(*) as texts,
    (
        coalesce(sum(strlen(body)), 0)
        + (
            select coalesce(sum(bytes), 0)
            from text_pieces
            where hash not in (select hash from documents)
        )
    )::bigint as bytes
from content
where hash not in (select hash from documents)
