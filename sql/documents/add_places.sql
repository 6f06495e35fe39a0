-- Keep places of documents, once under their id.
--
-- in   places_found  relation  id, kinds, labels, lines: as in `places`; no id twice
insert into places
select id, kinds, labels, lines
from places_found
where id not in (select id from places)
