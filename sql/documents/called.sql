-- The document that a wiki link means: of its name or the end of its path, else of its title or an
-- alias, in whatever case; that of the same collection first, then that of the shortest path.
--
-- in   $name        text  without an extension
-- in   $collection  text
-- out  file         text  collection/path
with known as (
    select
        collection,
        path,
        '/' || lower(regexp_replace(nfc_normalize(path), '\.[A-Za-z0-9]{1,8}$', '')) as stem,
        lower(nfc_normalize(title)) as title,
        aliases
    from documents
),

fitting as (
    select
        collection,
        path,
        case
            when ends_with(stem, '/' || lower(nfc_normalize($name))) then 0
            when title = lower(nfc_normalize($name)) then 1
            when list_contains(list_transform(aliases, lambda each: lower(each)), lower($name))
                then 2
        end as rank
    from known
)

select collection || '/' || path as file
from fitting
where rank is not null
order by collection <> $collection, rank, length(path), collection, path
limit 1
