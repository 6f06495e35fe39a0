-- Contents by their hashes.
--
-- in   $hashes  json  array, none twice
-- out  hash     text
-- out  body     text
select content.hash, body
from (select unnest(from_json($hashes, '["VARCHAR"]')) as hash) as asked
join content on asked.hash = content.hash
