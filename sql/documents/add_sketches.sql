-- Add the signatures of the accepted documents, once for each hash.
--
-- in   sketched  relation  hash text, bins blob; no hash twice
insert into sketches
select sketched.hash, sketched.bins, false
from sketched
anti join sketches on sketched.hash = sketches.hash
where sketched.hash in (select hash from accepted)
