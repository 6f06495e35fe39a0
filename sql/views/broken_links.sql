-- Links that lead to a document or a heading that is not there.
--
-- What is no document of the index may still be a file: a link with an extension is here only if its
-- collection has documents with that one. So a link to a picture, or to any other file that the mask
-- of the collection does not take, is never here. Of a document without any headings none is missed.
--
-- needs  links, headings
-- out  file         text      of `documents`
-- out  line         uinteger  from 1
-- out  kind         text      of `links`
-- out  text         text      as it is written
-- out  target       text      as it is written
-- out  missing      text      document or heading
-- out  document_id  uinteger  changes whenever the document does
create view broken_links as
with known as (
    select distinct collection, lower(regexp_extract(path, '\.(\w+)$', 1)) as extension
    from qmd_index.documents
),

-- Of a link, what comes after the last dot of its path: an extension, unless it is a number.
written as (
    select
        *,
        lower(regexp_extract(target, '^[^#?]*\.(\w*[A-Za-z]\w*)(?:[#?]|$)', 1)) as extension
    from links
),

-- An anchor has the letters and digits of its heading; programs differ in what they write between them.
slugs as (
    select
        file,
        unnest([
            slug,
            lower(text),
            trim(regexp_replace(slug, '[^\p{L}\p{M}\p{N}_]+', '-', 'g'), '-'),
            trim(regexp_replace(lower(text), '[^\p{L}\p{M}\p{N}_]+', '-', 'g'), '-')
        ]) as name
    from headings
    where file in (select to_file from links where anchor is not null)
),

-- Of an embed, a range of Dendron begins at its heading: ![[tea#brewing,1:#*]].
begun as (
    select
        * replace (
            case
                when kind = 'embed' then regexp_replace(anchor, '(,\d+)?(:#.*)?$', '')
                else anchor
            end as anchor
        )
    from links
),

-- A wiki link may say the headings above, too, and leaves signs out: [[Tea#Brewing#Why a pot]].
anchored as (
    select
        *,
        lower(coalesce(try(url_decode(anchor)), anchor)) as slug,
        case
            when kind in ('wiki', 'embed') then replace(
                regexp_replace(
                    trim(regexp_extract(slug, '[^#]*$')), '[^\p{L}\p{M}\p{N}\p{Pc} -]', '', 'g'
                ),
                ' ',
                '-'
            )
            else trim(regexp_replace(slug, '[^\p{L}\p{M}\p{N}_]+', '-', 'g'), '-')
        end as bare
    from begun
    where
        anchor[1] <> '^'
        and not contains(anchor, '#^')
        and anchor not in ('top', '*')
        -- that of the page which a program makes of a text
        and (regexp_matches(to_file, '\.html?$') or not regexp_matches(target, '\.html?[#?]'))
),

unknown as materialized (
    select anchored.*, documents.hash
    from anchored
    join qmd_index.documents on to_file = collection || '/' || path
    where
        to_file in (select file from slugs)
        and (to_file, slug) not in (select (file, name) from slugs)
        and (to_file, bare) not in (select (file, name) from slugs)
),

-- Texts are read of the documents of these alone. Grouped, they are found before they are looked through.
texts as (
    select hash, any_value(body) as body
    from qmd_index.content
    where hash in (select hash from unknown)
    group by hash
),

-- Of a long text, which is empty there.
pieces as (
    select hash, string_agg(text, '' order by number) as body
    from qmd_index.text_pieces
    where hash in (select hash from unknown)
    group by hash
),

missed as (
    select file, line, kind, text, target, 'document' as missing, document_id
    from written
    where
        to_file is null
        and not external
        and not regexp_matches(target, '\{\{|\{%')  -- a program fills it in
        and (
            extension = ''
            or (split_part(file, '/', 1), extension) in (select (collection, extension) from known)
        )
    union all
    select
        unknown.file,
        line,
        unknown.kind,
        unknown.text,
        target,
        'heading',
        unknown.document_id
    from unknown
    join texts using (hash)
    left join pieces using (hash)
    where
        not contains(coalesce(pieces.body, texts.body), '"' || anchor || '"')  -- <a name="anchor">
        and not contains(coalesce(pieces.body, texts.body), '{{%')  -- a program adds headings
)

select file, line, kind, text, target, missing, document_id
from missed
