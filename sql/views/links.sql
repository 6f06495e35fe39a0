-- Links in documents: of Markdown, wiki links, bare URLs, pictures and embeds, and where they lead.
--
-- A path leads to the document that has it, below the folder of the one that links or, with / in front, of
-- the collection, or of a folder in it; also without .md or .mdx, and to the README.md, index.md or _index.md
-- of a folder. An address of a site, without a suffix, may have other capitals, be what `url`, `permalink`
-- or `slug` says, begin at the page as at a folder, or name a language in which the page is not there.
-- A wiki link leads to the document of that name or path, however its letters are written: in
-- the same folder, else in the same collection, else in any, there to that of the shortest path; else to one
-- that has it as an alias, as its id or as its title, or to the first page of a folder. `A___B.md` is A/B.
-- One that begins with ./ or ../ is a path; id:x leads to the document that says `id: x`. Where it leads to
-- none, the name may stand behind the text, as Dendron writes it. What a program makes of a text, tea.html,
-- leads to the text. [[202405171030]] leads to `202405171030 Tea.md`.
--
-- needs  marks
-- stored
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
with written as not materialized (  -- to read them twice takes less than to keep a million
    select
        *,
        kind in ('wiki', 'embed') as doubled,
        -- Dendron writes the name behind the text: [[text|a.b]]
        case
            when
                doubled
                and text <> target
                and regexp_matches(text, '^(dendron://[^/\s]+/[^\s#]+|[^\s/#]+\.[^\s/#]+)(#|$)')
            then regexp_extract(regexp_replace(text, '^dendron://[^/]*/', ''), '^[^#]*')
            else ''
        end as label
    from marks
    join (
        select document_id, regexp_extract(path, '^(.*/)?', 1) as folder
        from qmd_index.documents
    ) using (document_id)
    where kind in ('inline', 'reference', 'wiki', 'autolink', 'image', 'embed')
),

-- Many links of a folder have the same target: each is read and looked for once.
targets as (
    select
        *,
        regexp_replace(regexp_extract(target, '^[^#?]*'), '\\([[:punct:]])', '\1', 'g') as pointed,
        target like 'id:_%' or doubled and not regexp_matches(target, '^\.\.?/') as named,
        not doubled
        and not named
        and regexp_matches(target, '^(//|[A-Za-z][A-Za-z0-9+.-]+:)') as external,
        row_number() over () as id
    from (select distinct collection, folder, target, doubled, label from written)
),

-- A target is what a path says, without escapes of Markdown and of URLs, as far as these are any.
split as (
    select
        *,
        nullif(regexp_extract(target, '#(.*)$', 1), '') as anchor,
        case
            when named then trim(
                regexp_extract(
                    regexp_replace(target, '^(id:|dendron://[^/]*/)', ''), '^[^#]*'
                )
            )
        end as name,
        case
            when named and not doubled then null
            when doubled and not named then trim(regexp_extract(target, '^[^#]*'))
            when not doubled and not external then coalesce(try(url_decode(pointed)), pointed)
        end as address
    from targets
),

-- A page is a folder, too, in the address of a site, which ends with /: beside guide/a, ../b/ is guide/b.
ways as (
    select
        id,
        collection,
        folder,
        address[1] = '/' as is_whole,
        case when address[1] = '/' then '' else folder end || address as way,
        0 as nth
    from split
    where address <> ''
    union all
    select
        id,
        collection,
        folder,
        false,
        case when address[4] = '/' then '' else folder end || address[4:],
        1
    from split
    where address like '../%/'
),

placed as (
    select
        id,
        collection,
        folder,
        is_whole,
        nth,
        nfc_normalize(
            case
                when regexp_matches(way, '(^|/)\.\.?(/|$)')
                then array_to_string(
                    list_reduce(
                        list_transform(
                            list_filter(
                                string_split(way, '/'), lambda part: part not in ('', '.')
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
                )
                else trim(regexp_replace(way, '//+', '/', 'g'), '/')
            end
        ) as place
    from ways
),

-- A site shows the page in its main language where /de/page is not there: beside the folder de, in en or in none.
languages as (
    select
        *,
        regexp_extract(place, '^([a-z]{2,3}(?:-[A-Za-z]{2,4})?)/', 1) as language,
        instr('/' || folder, '/' || language || '/') as begins
    from placed
    where is_whole
),

resolved as (
    select id, collection, place, nth
    from placed
    union all
    select
        id,
        collection,
        left(folder, begins - 1) || main || substr(place, length(language) + 2),
        mains.nth
    from languages, (values ('en/', 2), ('', 3)) as mains (main, nth)
    where language <> '' and begins > 0
),

-- What front matter says of the address of a page.
addresses as (
    select
        collection,
        path,
        unnest([
            metadata ->> '$.url',
            metadata ->> '$.permalink',
            case
                when slug like '/%' then slug
                else regexp_extract(path, '^(.*/)?', 1) || slug
            end
        ]) as given
    from (
        select collection, path, metadata, metadata ->> '$.slug' as slug
        from qmd_index.documents
        where
            contains(metadata, '"slug"')
            or contains(metadata, '"url"')
            or contains(metadata, '"permalink"')
    )
    union all
    -- addresses that a page had before
    select collection, path, alias
    from (select collection, path, unnest(aliases) as alias from qmd_index.documents)
    where alias like '/_%'
),

-- Of the ways in which a path says the same, the one that is whole comes first.
reached as (
    select
        id,
        min_by(
            resolved.collection || '/' || path,
            {'nth': nth, 'differs': resolved.place <> known.place, 'rank': rank, 'path': path}
        ) as to_reached,
        min(nth) as nth
    from (
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
        select collection, path, nfc_normalize(regexp_replace(path, '\.\w+$', '.html')), 5
        from qmd_index.documents
        where regexp_matches(path, '\.(md|mdx|markdown|org|rst|adoc|ipynb|qmd|rmd)$')
        union all
        select collection, path, nfc_normalize(trim(given, '/')), 4
        from addresses
        where given <> ''
    ) as known
    join resolved
        on resolved.collection = known.collection
        and lower(resolved.place) = lower(known.place)
        and (resolved.place = known.place or not regexp_matches(resolved.place, '\.\w+$'))
    group by id
),

-- A path from the top of a site may begin in any folder of the collection: in one that the document is in,
-- before others.
ended as (
    select
        id,
        min_by(
            placed.collection || '/' || path,
            {
                'apart': not starts_with(folder, left(whole, length(whole) - length(place))),
                'rank': rank,
                'length': length(path),
                'path': path
            }
        ) as to_ended
    from (
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
        union all
        select collection, path, nfc_normalize(trim(given, '/')), 2
        from addresses
        where given <> ''
    ) as known
    join placed
        on placed.collection = known.collection
        and lower(regexp_extract(place, '[^/]*$')) = lower(regexp_extract(whole, '[^/]*$'))
        and ends_with('/' || lower(whole), '/' || lower(place))
    where is_whole and place <> '' and not regexp_matches(place, '\.\w+$')
    group by id
),

-- By name: of `a/b/Tea.md`, `tea`, `tea.md`, `b/tea` and `a/b/tea`.
wanted as (
    select
        *,
        regexp_replace(
            lower(nfc_normalize(ltrim(name, '/'))), '\.(md|mdx|markdown|org)$', ''
        ) as ending
    from (
        select id, false as is_label, collection, folder, name
        from split
        union all
        select id, true, collection, folder, label
        from split
    )
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
    union all
    select collection, path, folder, regexp_replace(whole, '/(readme|_?index)$', ''), 4
    from known
    where regexp_matches(whole, '/(readme|_?index)$')
),

called as (
    select collection, path, lower(nfc_normalize(alias)) as whole, 2 as rank
    from (select collection, path, unnest(aliases) as alias from qmd_index.documents)
    union all
    select collection, path, lower(nfc_normalize(title)), 3
    from qmd_index.documents
    union all
    select collection, path, lower(nfc_normalize(metadata ->> '$.id')), 2
    from qmd_index.documents
    where contains(metadata, '"id"')
    union all
    -- the moment that names a note of a Zettelkasten stands before its title
    select collection, path, id, 2
    from (
        select
            collection,
            path,
            regexp_extract(path, '(?:^|/)(\d{12}|\d{14})[^\d/][^/]*$', 1) as id
        from qmd_index.documents
    )
    where id <> ''
    union all
    select collection, path, lower(id), 2  -- of a headline
    from (
        select collection, path, unnest(metadata ->> '$.ids[*]') as id
        from qmd_index.documents
        where reader like 'org %' and contains(metadata, '"ids"')
    )
),

candidates as (
    select wanted.*, spelled.collection as in_collection, spelled.folder as in_folder, path, rank
    from spelled
    join wanted
        on regexp_extract(ending, '[^/]*$') = regexp_extract(spelled.whole, '[^/]*$')
        and ends_with('/' || spelled.whole, '/' || ending)
    union all
    select
        wanted.*, called.collection, regexp_extract(path, '^(.*/)?', 1) as in_folder, path, rank
    from called
    join wanted on lower(nfc_normalize(name)) = called.whole
),

named as (
    select
        id,
        is_label,
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
    group by id, is_label
),

answered as (
    select
        split.collection,
        split.folder,
        target,
        doubled,
        label,
        external,
        anchor,
        labelled.to_file as to_label,
        named.to_file is null as is_unnamed,
        '' in (name, address) as is_own,
        coalesce(
            named.to_file,
            case when reached.nth < 2 then to_reached end,
            to_ended,
            to_reached,  -- in the main language
            labelled.to_file
        ) as to_file
    from split
    left join reached using (id)
    left join ended using (id)
    left join named on split.id = named.id and not named.is_label
    left join named as labelled on split.id = labelled.id and labelled.is_label
)

select
    file,
    line,
    kind,
    text,
    written.target,
    case
        when to_label is not null and (is_unnamed or starts_with(text, 'dendron://'))
        then nullif(regexp_extract(text, '#(.*)$', 1), '')
        else anchor
    end as anchor,
    external,
    case
        when is_own then file
        when starts_with(text, 'dendron://') and to_label is not null then to_label
        else to_file
    end as to_file,
    document_id
from written
join answered
    on written.collection = answered.collection
    and written.folder = answered.folder
    and written.target = answered.target
    and written.doubled = answered.doubled
    and written.label = answered.label
