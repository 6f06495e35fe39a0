-- Keep the places of contents, once under the hash.
--
-- in   places_found  relation  hash text, kinds, labels, lines: as in `places`; no hash twice
insert into places
select hash, kinds, labels, lines
from places_found
where hash not in (select hash from places)
