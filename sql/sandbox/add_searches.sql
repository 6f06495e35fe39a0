-- Add entries of the search log. Incomplete and malformed lines are left out.
--
-- in   $lines  json  array of texts: objects with the columns of `searches`, as JSON
insert into memory.qmd.searches by name
with read as (
    select unnest(
        from_json(
            line,
            '{"searched_at": "TIMESTAMP", "verb": "VARCHAR", "query": "VARCHAR",
              "collections": ["VARCHAR"], "at_most": "BIGINT", "milliseconds": "DOUBLE",
              "results": "BIGINT", "found": ["VARCHAR"]}'
        ),
        recursive := true
    )
    from (select unnest(from_json($lines, '["VARCHAR"]')) as line)
    where json_valid(line)
)

select *
from read
where columns(* exclude (collections)) is not null
