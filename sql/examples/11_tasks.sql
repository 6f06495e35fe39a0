-- Which tasks are not ticked off?
with tasks as (
    select
        file,
        unnest(
            list_filter(
                list_transform(string_split(body, chr(10)), lambda text, line: {'line': line, 'text': text}),
                lambda each: regexp_matches(each.text, '^\s*[-*] \[ \] ')
            )
        ) as task
    from documents
)

select file, task.line, regexp_replace(task.text, '^\s*[-*] \[ \] ', '') as task
from tasks
order by file, task.line
