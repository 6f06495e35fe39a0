-- Add the signatures of the accepted documents, once for each hash.
--
-- in   sketched  relation  hash text, bins blob; no hash twice
insert into sketches
select hash, bins, false
from sketched
where
    hash in (select hash from accepted)
    and hash not in (select hash from sketches where hash in (select hash from accepted))
