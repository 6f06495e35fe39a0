-- Add the signatures of the accepted documents, once for each hash.
--
-- in   sketched  relation  hash text, bins blob, buckets uinteger[], empty if bins are; no hash twice
insert into sketches by name
select hash, bins, false as settled, buckets
from sketched
where
    hash in (select hash from accepted)
    and hash not in (select hash from sketches where hash in (select hash from accepted))
