-- Places in documents: pages, slides, sheets, moments, cells, messages and rows.
--
-- out  file         text       of `documents`
-- out  number       uinteger   from 1, in the order of the document
-- out  kind         text       page, slide, sheet, second, cell, message or row
-- out  label        text       as people write it, without the kind: 12, Budget, 00:12:31
-- out  first_line   uinteger   from 1
-- out  last_line    uinteger?  null: to the end of the document
-- out  document_id  uinteger   changes whenever the document does
create view places as
with listed as (
    select
        collection || '/' || path as file,
        document_id,
        kinds,
        string_split(labels, chr(30)) as labels,
        cast(string_split(lines, ' ') as uinteger[]) as lines
    from qmd_index.documents
    join qmd_index.places on documents.places = places.id
),

numbered as (
    select
        file,
        document_id,
        unnest(range(1, len(lines) + 1)) as number,
        kinds,
        labels,
        lines
    from listed
),

written as (
    select
        file,
        number::uinteger as number,
        case kinds[number]
            when 'p' then 'page'
            when 's' then 'slide'
            when 't' then 'sheet'
            when 'm' then 'second'
            when 'c' then 'cell'
            when 'n' then 'message'
            when 'r' then 'row'
            else kinds[number]
        end as kind,
        labels[number] as label,
        lines[number] as first_line,
        -- several places may begin on one line: each ends before the next one that does not
        list_min(list_filter(lines, lambda line: line > lines[number])) as following,
        document_id
    from numbered
)

select file, number, kind, label, first_line, (following - 1)::uinteger as last_line, document_id
from written
