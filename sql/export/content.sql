-- Texts that no document has, kept for files that come back. Those of documents are in `documents`.
--
-- in   $chosen  boolean?  true: none, since they are of none of the chosen documents
-- out  hash     text      SHA-256 of the body in UTF-8, 64 hex digits
-- out  body     text
select hash, body
from (
    select hash, body
    from content
    anti join text_pieces on content.hash = text_pieces.hash
    union all
    select hash, string_agg(text, '' order by number) as body
    from text_pieces
    group by hash
)
where
    hash not in (select hash from memory.chosen)
    -- if $chosen
    and not $chosen
    -- end
