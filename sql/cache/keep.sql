-- Add answers of models; existing ones stay.
--
-- in   $answers  json  array of {key, kind, value}
insert into cache
select key, kind, value, now() at time zone 'UTC'
from (
    select unnest(
        from_json($answers, '[{"key": "VARCHAR", "kind": "VARCHAR", "value": "JSON"}]'),
        recursive := true
    )
)
where key not in (select key from cache)
order by key
