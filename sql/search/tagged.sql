-- Documents with a tag, in the text or in the frontmatter.
--
-- in   $tag         text     regular expression for all of a tag, in lower case and without #
-- out  document_id  integer
with written as (
    select
        hash,
        unnest(string_split(outline.kinds, '')) as letter,
        unnest(string_split(outline.texts, chr(30))) as tag
    from content
    where contains(outline.kinds, 't')
),

given as (
    select
        document_id,
        -- tags in one text stand between commas or blanks
        unnest(
            regexp_split_to_array(
                lower(
                    case json_type(found)
                        when 'ARRAY'
                            then array_to_string(from_json(found, '["VARCHAR"]'), ',')
                        else found ->> '$'
                    end
                ),
                '[,\s]+'
            )
        ) as tag
    from (
        select document_id, unnest([metadata -> '$.tags', metadata -> '$.tag']) as found
        from documents
        where json_type(metadata) = 'OBJECT'
    )
    where found is not null
)

select document_id
from documents
where
    hash in (
        select hash from written where letter = 't' and regexp_full_match(lower(tag), $tag)
    )
    -- a text has an outline whatever its file is called
    and (
        regexp_matches(path, '(?i)\.(md|markdown|mdx|mdown|mkd|qmd|rmd|txt)$')
        or (reader is not null and not regexp_matches(reader, '^(text|csv_rows|json_text) '))
    )
union
select document_id
from given
where regexp_full_match(ltrim(tag, '#'), $tag)
order by document_id
