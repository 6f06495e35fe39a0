-- Documents that one links to, those that link to it, and those that are linked with these.
--
-- It runs in the sandbox, over the views.
--
-- in   $file       text     of `documents`
-- in   $first      integer  line of its section, from 1
-- in   $last       integer  last line of that
-- in   $anchors    text[]   names of the heading of that, in lower case
-- in   $is_part    boolean  only links to that heading count; else all that lead to the document
-- in   $steps      integer  2: those that are linked with these, too
-- in   $most       integer  documents of each direction at most
-- out  direction   text     out, back or two
-- out  file        text?    the other document; null: there is none
-- out  title       text?
-- out  line        integer? of the link, from 1
-- out  text        text?    of the link
-- out  target      text?    as it is written
-- out  via         text?    document between
-- out  ways        bigint   links, or documents between
with known as (
    select file, line, text, target, anchor, to_file
    from links
    where not external and file is distinct from to_file
),

around as (
    select 'out' as direction, to_file as other, line, text, target
    from known
    where file = $file and line between $first and $last
    union all
    select 'back', file, line, text, target
    from known
    where to_file = $file and (not $is_part or list_contains($anchors, lower(anchor)))
),

one as (
    select
        direction,
        other,
        min(line) as line,
        first(text order by line, text, target) as text,
        first(target order by line, text, target) as target,
        null::text as via,
        count(*) as ways
    from around
    group by direction, other, case when other is null then target end
),

ends as (
    select distinct other
    from one
    where other is not null
),

beyond as (
    select to_file as other, file as via
    from known
    where file in (from ends)
    union
    select file, to_file
    from known
    where to_file in (from ends)
),

two as (
    select
        'two' as direction,
        other,
        null::uinteger as line,
        null::text as text,
        null::text as target,
        min(via) as via,
        count(*) as ways
    from beyond
    where $steps = 2 and other is not null and other <> $file and other not in (from ends)
    group by other
),

every as (
    from one
    union all
    from two
)

select direction, other as file, documents.title, line, text, target, via, ways
from every
left join documents on documents.file = other
qualify
    row_number() over (partition by direction order by other is null, ways desc, other, target)
    <= $most
order by
    direction = 'two',
    direction = 'back',
    other is null,
    case when direction = 'two' then -ways end,
    case when direction = 'out' then line end,
    other,
    target
