-- Add the content of the accepted documents, once for each hash.
--
-- in   texts  relation  hash text, body text, outline: as in `content`; no hash twice
insert into content
select hash, body, outline
from texts
where hash in (select hash from accepted)
on conflict do nothing
