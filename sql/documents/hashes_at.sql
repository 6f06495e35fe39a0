-- Hashes of texts with a signature.
--
-- in   $places  json    array, none twice. See documents/bins
-- out  place    bigint
-- out  hash     text
select rowid as place, hash
from sketches
where rowid in (select unnest(from_json($places, '["BIGINT"]')))
