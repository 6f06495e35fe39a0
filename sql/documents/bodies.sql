-- Contents by their hashes.
--
-- in   $hashes  json  array, none twice
-- out  hash     text
-- out  body     text   empty: it is a long one, in pieces
select content.hash, body
from (select unnest(from_json($hashes, '["VARCHAR"]')) as hash) as asked
join content on asked.hash = content.hash
