-- Links to a document, and those that it has itself, each document once.
--
-- It runs in the sandbox, over the views.
--
-- in   $file     text     of `documents`
-- in   $most     integer  links of each direction at most
-- out  incoming  boolean  a link to it
-- out  file      text?    the other document; null: there is none
-- out  title     text?    of the other document
-- out  text      text     of the link
-- out  target    text     as it is written
with around as (
    select false as incoming, to_file as other, text, target, line
    from links
    where file = $file and to_file is distinct from file
    union all
    select true, file, text, target, line
    from links
    where to_file = $file and file <> to_file
),

once as (
    select
        incoming,
        other,
        first(text order by line, text) as text,
        first(target order by line, text) as target
    from around
    group by incoming, other, case when other is null then target end
)

select incoming, other as file, documents.title, text, target
from once
left join documents on documents.file = other
qualify row_number() over (partition by incoming order by other is null, other, target) <= $most
order by incoming desc, other is null, other, target
