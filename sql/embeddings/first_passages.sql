-- The vector of the first passage of some texts, those with the lowest hashes: as good as any.
--
-- in   $model_id  integer
-- in   $limit     integer  texts
-- in   $count     integer  characters of a beginning
-- out  beginning  text     of the passage, after front matter and the mark of a heading
-- out  vector     float[]  of length 1
with firsts as (
    select
        chunks.hash,
        position,
        vector
    from embeddings
    join chunks on embeddings.chunk_id = chunks.chunk_id
    where embeddings.model_id = $model_id and seq = 0
    order by chunks.hash
    limit $limit
),

matters as (
    select hash, max(coalesce(matter, 0)) as matter
    from documents
    where hash in (select hash from firsts)
    group by hash
),

bodies as (
    select hash, body
    from content
    where hash in (select hash from firsts)
    union all
    select hash, string_agg(text, '' order by number) as body
    from text_pieces
    where hash in (select hash from firsts)
    group by hash
)

select
    ltrim(
        substring(body, greatest(position, coalesce(matter, 0))::bigint + 1, $count), '# ' || chr(10)
    ) as beginning,
    vector
from firsts
join bodies on firsts.hash = bodies.hash
left join matters on firsts.hash = matters.hash
where body <> ''
order by firsts.hash
