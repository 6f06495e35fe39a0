-- Headings of documents.
--
-- The slug is what a link's `#anchor` names: that of GitHub, with -1, -2 … where a document has it again.
--
-- needs  marks
-- out  file         text      of `documents`
-- out  line         uinteger  from 1
-- out  level        integer   1 to 6
-- out  text         text      as it is written, without the marks of a heading
-- out  slug         text
-- out  document_id  uinteger  changes whenever the document does
create view headings as
with written as (
    select
        file,
        line,
        kind::integer as level,
        text,
        -- an anchor of its own, as {#name}, {: #name}, in MDX {/*name*/}, or <a name="name">, is the slug
        coalesce(
            nullif(
                regexp_extract(
                    text, '\{(?::?\s*(?:\.[\w-]+\s+)*#|/\*\s*#?)([^{}\s*]+)(?:\s*\*/|[^{}]*)\}\s*$', 1
                ),
                ''
            ),
            nullif(regexp_extract(text, '<a (?:name|id)="([^"]+)"', 1), ''),
            replace(
                regexp_replace(
                    lower(
                        regexp_replace(
                            regexp_replace(text, '!\[[^\]]*\]\([^)]*\)|<[^>]*>', '', 'g'),
                            '\[([^\]]*)\]\([^)]*\)',
                            '\1',
                            'g'
                        ).trim()
                    ),
                    '[^\p{L}\p{M}\p{N}\p{Pc} -]',
                    '',
                    'g'
                ),
                ' ',
                '-'
            )
        ) as bare,
        document_id
    from marks
    where kind between '1' and '6'
),

numbered as (
    select *, row_number() over (partition by document_id, bare order by line) as nth
    from written
)

select
    file,
    line,
    level,
    text,
    case nth when 1 then bare else bare || '-' || (nth - 1) end as slug,
    document_id
from numbered
