-- Add contexts.
--
-- in   $contexts  json  array of {collection, prefix, body}
insert into contexts
select unnest(
    from_json(
        $contexts, '[{"collection": "VARCHAR", "prefix": "VARCHAR", "body": "VARCHAR"}]'
    ),
    recursive := true
)
