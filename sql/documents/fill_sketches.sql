-- Add the signatures of texts from before there were any.
--
-- in   sketched  relation  hash text, bins blob, buckets uinteger[], empty if bins are; no hash twice
insert into sketches by name
select hash, bins, false as settled, buckets
from sketched
where hash not in (select hash from sketches)
