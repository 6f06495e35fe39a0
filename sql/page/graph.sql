-- Documents one and two links away from one, with the links that lead there.
--
-- It runs in the sandbox, over the views.
--
-- in   $file   text     of `documents`
-- in   $most   integer  of each step at most
-- out  step    integer  -2 and -1: leads to the document; 0: linked both ways; 1 and 2: it leads to them
-- out  file    text?    null: a link that leads to no document
-- out  title   text?    of the document
-- out  text    text     of the link; empty: of two links
-- out  target  text?    as it is written, of a link that leads to no document
-- out  via     text[]   documents between, those of the first steps that are here themselves
-- out  total   bigint   of this step, documents and other links apart
with around as materialized (
    select
        file as source,
        to_file,
        case when to_file is null then target end as address,
        first(text order by line, text) as text
    from (
        -- each by itself: so the rest of a row is read of few rows
        select file, to_file, line, text, target from links where file = $file
        union all
        select file, to_file, line, text, target from links where to_file = $file
    )
    where to_file is distinct from file
    group by source, to_file, address
),

ends as (
    select source as file, null as address, text, -1 as step
    from around
    where to_file = $file
    union all
    select to_file, address, text, 1
    from around
    where source = $file
),

near as (
    select sum(step)::integer as step, file, address as target, first(text order by step) as text
    from ends
    group by file, address
),

-- Of documents that are near, the links further on.
edges as materialized (
    select distinct file as source, to_file
    from links
    where
        to_file is not null
        and to_file <> file
        and (
            to_file in (select file from near where step < 1 and file is not null)
            or file in (select file from near where step > -1 and file is not null)
        )
),

beyond as (
    select source as file, -2 as step, near.file as via
    from edges
    join near on edges.to_file = near.file and near.step < 1
    union all
    select to_file, 2, near.file
    from edges
    join near on edges.source = near.file and near.step > -1
),

-- How many documents link to each.
known as (
    select to_file as file, count(distinct file) as links
    from links
    where
        to_file <> file
        and to_file in (
            select file from near where file is not null
            union
            select file from beyond
        )
    group by to_file
),

nearest as (
    select
        near.*,
        []::text[] as via,
        count(*) over (partition by step, near.file is null) as total,
        coalesce(known.links, 0) as links
    from near
    left join known using (file)
    qualify
        row_number() over (partition by step, near.file is null order by links desc, file, target)
        <= $most
),

far as (
    select
        max(step) as step,
        file,
        list(distinct via order by via) filter (via in (select file from nearest)) as via
    from beyond
    where file <> $file and file not in (select file from near where file is not null)
    group by file
),

farthest as (
    select
        step,
        far.file,
        null as target,
        '' as text,
        coalesce(via, []) as via,
        count(*) over (partition by step) as total,
        coalesce(known.links, 0) as links
    from far
    left join known using (file)
    qualify
        row_number() over (partition by step order by len(far.via) desc nulls last, links desc, file)
        <= $most
)

select step, file, title, text, target, via, total
from (from nearest union all from farthest)
left join documents using (file)
order by step, file is null, len(via) desc, links desc, file, target
