-- Outlines have lists of texts and targets, which DuckDB compresses: most are like others, and none is so
-- long that all of its row group stays as it is.

alter table content alter column outline set data type struct(
    kinds text,                            -- a letter each: qmd/text/outline.py
    lines text,                            -- numbers from 1, a blank between two
    texts text[],                          -- of headings, links and tags
    targets text[]                         -- of links, as written; of others nothing
) using case
    when outline is not null then {
        'kinds': struct_extract(outline, 'kinds'),
        'lines': struct_extract(outline, 'lines'),
        'texts': case
            when struct_extract(outline, 'kinds') = '' then []
            else string_split(struct_extract(outline, 'texts'), chr(30))
        end,
        'targets': case
            when struct_extract(outline, 'kinds') = '' then []
            else string_split(struct_extract(outline, 'targets'), chr(30))
        end
    }
end;

-- The length of a document is in `documents` alone.
alter table postings drop column length;

-- Metadata is read whole, or that of one document that is shown.
alter table documents add column described json using compression zstd;
alter table documents alter column described set data type json using metadata;
alter table documents drop column metadata;
alter table documents rename column described to metadata;
