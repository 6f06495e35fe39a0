-- Contents by their hashes.
--
-- in   $hashes  json  array
-- out  hash     text
-- out  body     text
select hash, body
from content
where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
