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
),

long as (
    select hash, sum(bytes) as bytes
    from text_pieces
    group by hash
)

select
    wanted.hash,
    -- front matter is counted in characters where the text is a long one, which is not read
    case
        when long.bytes is null then strlen(substr(body, matter + 1)) else long.bytes - matter
    end::bigint as bytes
from wanted
join content on wanted.hash = content.hash
left join long on wanted.hash = long.hash
order by modified desc, wanted.hash
