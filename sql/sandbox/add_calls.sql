-- Add search calls.
--
-- in   $calls  json  array of {call, search, query_text, at_most, among}
insert into memory.qmd.calls by name
select unnest(
    from_json(
        $calls,
        '[{"call": "INTEGER", "search": "VARCHAR", "query_text": "VARCHAR", "at_most": "BIGINT",
           "among": ["VARCHAR"]}]'
    ),
    max_depth := 2
)
