-- Add results of searches.
--
-- in   $found  json  array of {call, rank, score, docid, file, collection, path, title, line, snippet}
insert into memory.qmd.found by name
select unnest(
    from_json(
        $found,
        '[{"call": "INTEGER", "rank": "INTEGER", "score": "DOUBLE", "docid": "VARCHAR",
           "file": "VARCHAR", "collection": "VARCHAR", "path": "VARCHAR", "title": "VARCHAR",
           "line": "INTEGER", "snippet": "VARCHAR"}]'
    ),
    recursive := true
)
