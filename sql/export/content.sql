-- Texts that no document has, kept for files that come back. Those of documents are in `documents`.
--
-- out  hash  text  SHA-256 of the body in UTF-8, 64 hex digits
-- out  body  text
select hash, body
from content
where
    hash in (select hash from memory.chosen_texts)
    and hash not in (select hash from memory.chosen)
