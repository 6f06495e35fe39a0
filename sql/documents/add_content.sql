-- Keep the content of the accepted documents, once under its hash.
--
-- in   texts   relation  hash text, body text, outline: as in `content`; no hash twice
-- in   $texts  json?     the same, as an object of columns; null: there is the relation
insert into content
-- if $texts
with texts as (
    select unnest(hash) as hash, unnest(body) as body, unnest(outline) as outline
    from (
        select unnest(
            from_json(
                $texts,
                '{"hash": ["VARCHAR"], "body": ["VARCHAR"],
                  "outline": [
                      {"kinds": "VARCHAR", "lines": "VARCHAR", "texts": "VARCHAR",
                       "targets": "VARCHAR"}
                  ]}'
            )
        )
    )
)
-- end
select hash, body, outline
from texts
where hash in (select hash from accepted)
on conflict do nothing
