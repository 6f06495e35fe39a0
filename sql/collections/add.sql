-- Add collections.
--
-- in   $collections  json  array of the columns of collections
insert into collections
select unnest(
    from_json(
        $collections,
        '[{"name": "VARCHAR", "root": "VARCHAR", "mask": "VARCHAR", "ignored": ["VARCHAR"],
           "update_command": "VARCHAR", "included": "BOOLEAN", "follow_symlinks": "BOOLEAN",
           "respect_gitignore": "BOOLEAN", "converted": ["VARCHAR"]}]'
    ),
    recursive := true
)
