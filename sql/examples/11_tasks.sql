-- Which tasks are not ticked off?
with lines as (
    select
        file,
        unnest(string_split(body, chr(10))) as text,
        generate_subscripts(string_split(body, chr(10)), 1) as line
    from documents
)

select file, line, regexp_replace(text, '^\s*[-*] \[ \] ', '') as task
from lines
where regexp_matches(text, '^\s*[-*] \[ \] ')
order by file, line
