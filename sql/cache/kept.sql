-- Cached answers of models.
--
-- in   $keys  json  array of key
-- out  key    text
-- out  value  json
select key, any_value(value) as value
from cache
where key in (select unnest(from_json($keys, '["VARCHAR"]')))
group by key
order by key
