-- Links in documents: of Markdown, wiki links, bare URLs, pictures and embeds, and where they lead.
--
-- A path leads to the document that has it, below the folder of the one that links or, with / in front, of
-- the collection, or of a folder in it; also without .md or .mdx, and to the README.md, index.md or _index.md
-- of a folder. A wiki link leads to the document of that name or path, however its letters are written: in
-- the same folder, else in the same collection, else in any, there to that of the shortest path; else to one
-- that has it as an alias or as its title. `A___B.md` is A/B. One that begins with ./ or ../ is a path.
--
-- needs  marks
-- out  file         text       of `documents`
-- out  line         uinteger   from 1
-- out  kind         text       inline, reference, wiki, autolink, image or embed
-- out  text         text       as it is written
-- out  target       text       as it is written
-- out  anchor       text?      what follows #
-- out  external     boolean    it leads out: a URL, or an address
-- out  to_file      text?      the document it leads to; null: to none
-- out  document_id  uinteger   changes whenever the document does
create view links as
with written as (
    select
        *,
        regexp_extract(path, '^(.*/)?', 1) as folder,
        kind in ('wiki', 'embed') as doubled,
        regexp_replace(regexp_extract(target, '^[^#?]*'), '\\([[:punct:]])', '\1', 'g') as pointed,
        doubled and not regexp_matches(target, '^\.\.?/') as named,
        not doubled and regexp_matches(target, '^(//|[A-Za-z][A-Za-z0-9+.-]+:)') as external
    from marks
    where kind in ('inline', 'reference', 'wiki', 'autolink', 'image', 'embed')
),

-- A target is what a path says, without escapes of Markdown and of URLs, as far as these are any.
split as (
    select
        *,
        nullif(regexp_extract(target, '#(.*)$', 1), '') as anchor,
        case when named then trim(regexp_extract(target, '^[^#]*')) end as name,
        case
            when doubled and not named then trim(regexp_extract(target, '^[^#]*'))
            when not doubled and not external then coalesce(try(url_decode(pointed)), pointed)
        end as address
    from written
),

-- The targets that there are, once each: a folder with a hundred links to one file asks once.
places as (
    select distinct collection, folder, address
    from split
    where address <> ''
),

resolved as (
    select
        *,
        array_to_string(
            list_reduce(
                list_transform(
                    list_filter(
                        string_split(
                            case when address[1] = '/' then '' else folder end || address, '/'
                        ),
                        lambda part: part not in ('', '.')
                    ),
                    lambda part: [part]
                ),
                lambda way, part: case
                    when part[1] = '..' and len(way) > 0 and way[-1] <> '..' then way[:-2]
                    else way || part
                end,
                []::text[]
            ),
            '/'
        ) as place
    from places
),

-- Of the ways in which a path says the same, the one that is whole comes first.
reached as (
    select
        resolved.collection, folder, address, min_by(path, {'rank': rank, 'path': path}) as path
    from resolved
    join (
        select collection, path, nfc_normalize(path) as place, 0 as rank
        from qmd_index.documents
        union all
        select
            collection,
            path,
            nfc_normalize(regexp_replace(path, '\.(md|mdx|markdown)$', '')),
            case when path like '%.md' then 1 else 2 end
        from qmd_index.documents
        where regexp_matches(path, '\.(md|mdx|markdown)$')
        union all
        select
            collection,
            path,
            nfc_normalize(regexp_replace(path, '/?(README|_?index)\.(md|mdx|markdown)$', '')),
            3
        from qmd_index.documents
        where regexp_matches(path, '(^|/)(README|_?index)\.(md|mdx|markdown)$')
        union all
        -- addresses that a page had before
        select collection, path, nfc_normalize(trim(alias, '/')), 4
        from (select collection, path, unnest(aliases) as alias from qmd_index.documents)
        where alias like '/_%'
    ) as known
        on resolved.collection = known.collection and nfc_normalize(resolved.place) = known.place
    group by resolved.collection, folder, address
),

-- A path from the top of a site may begin in any folder of the collection.
ended as (
    select
        resolved.collection,
        folder,
        address,
        min_by(path, {'rank': rank, 'length': length(path), 'path': path}) as path
    from resolved
    join (
        select
            collection,
            path,
            nfc_normalize(
                regexp_replace(
                    path, '(/(README|_?index))?\.(md|mdx|markdown|html|ipynb|rst|adoc)$', ''
                )
            ) as whole,
            case when regexp_matches(path, '/_?index\.') then 0 else 1 end as rank
        from qmd_index.documents
    ) as known
        on resolved.collection = known.collection
        and regexp_extract(nfc_normalize(place), '[^/]*$') = regexp_extract(whole, '[^/]*$')
        and ends_with('/' || whole, '/' || nfc_normalize(place))
    where address[1] = '/' and place <> '' and not regexp_matches(place, '\.\w+$')
    group by resolved.collection, folder, address
),

-- By name: of `a/b/Tea.md`, `tea`, `tea.md`, `b/tea` and `a/b/tea`.
wanted as (
    select distinct
        collection,
        folder,
        name,
        regexp_replace(
            lower(nfc_normalize(ltrim(name, '/'))), '\.(md|mdx|markdown|org)$', ''
        ) as ending
    from split
    where name <> ''
),

known as (
    select
        collection,
        path,
        regexp_extract(path, '^(.*/)?', 1) as folder,
        regexp_replace(lower(nfc_normalize(path)), '\.(md|mdx|markdown|org)$', '') as whole
    from qmd_index.documents
),

-- Below pages/ of Logseq, a name with / is that of a file with ___ or %2F.
spelled as (
    select collection, path, folder, whole, 0 as rank
    from known
    union all
    select collection, path, folder, replace(replace(whole, '___', '/'), '%2f', '/'), 1
    from known
    where contains(whole, '___') or contains(whole, '%2f')
),

called as (
    select collection, path, lower(nfc_normalize(alias)) as whole, 2 as rank
    from (select collection, path, unnest(aliases) as alias from qmd_index.documents)
    union all
    select collection, path, lower(nfc_normalize(title)), 3
    from qmd_index.documents
),

candidates as (
    select wanted.*, spelled.collection as in_collection, spelled.folder as in_folder, path, rank
    from wanted
    join spelled
        on regexp_extract(ending, '[^/]*$') = regexp_extract(spelled.whole, '[^/]*$')
        and ends_with('/' || spelled.whole, '/' || ending)
    union all
    select
        wanted.*, called.collection, regexp_extract(path, '^(.*/)?', 1) as in_folder, path, rank
    from wanted
    join called on lower(nfc_normalize(name)) = called.whole
),

named as (
    select
        collection,
        folder,
        name,
        first(
            in_collection || '/' || path
            order by
                rank > 1,
                in_collection <> collection,
                in_folder <> folder,
                rank,
                length(path),
                in_collection,
                path
        ) as to_file
    from candidates
    group by collection, folder, name
)

select
    file,
    line,
    kind,
    text,
    target,
    anchor,
    external,
    case
        when '' in (split.name, split.address) then file
        else coalesce(
            named.to_file,
            split.collection || '/' || reached.path,
            split.collection || '/' || ended.path
        )
    end as to_file,
    document_id
from split
left join reached
    on split.collection = reached.collection
    and split.folder = reached.folder
    and split.address = reached.address
left join ended
    on split.collection = ended.collection
    and split.folder = ended.folder
    and split.address = ended.address
left join named
    on split.collection = named.collection
    and split.folder = named.folder
    and split.name = named.name
