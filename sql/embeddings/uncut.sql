-- Texts without chunks for a model, the last changed first.
--
-- in   $model_id     integer
-- in   $collections  json?    array of names
-- out  hash          text
-- out  bytes         bigint  behind the front matter
with wanted as (
    select hash, max(modified) as modified, min(coalesce(matter, 0)) as matter
    from documents
    where
        ($collections is null or list_contains(from_json($collections, '["VARCHAR"]'), collection))
        and hash not in (select hash from chunks where model_id = $model_id)
    group by hash
)

select wanted.hash, strlen(substr(body, matter + 1)) as bytes
from wanted
join content on wanted.hash = content.hash
order by modified desc, wanted.hash
