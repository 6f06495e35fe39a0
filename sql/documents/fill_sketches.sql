-- Add the signatures of texts from before there were any.
--
-- in   sketched  relation  hash text, bins blob; no hash twice
insert into sketches
select hash, bins, false
from sketched
where hash not in (select hash from sketches)
