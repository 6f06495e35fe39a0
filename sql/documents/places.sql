-- Places of contents.
--
-- in   $hashes  json  array
-- out  hash     text
-- out  kinds    text
-- out  labels   text
-- out  lines    text
select hash, kinds, labels, lines
from places
where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
