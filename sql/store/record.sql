-- Record that migrations have run.
--
-- in   $migrations   json  array of {version, name, digest}: a number, and two texts; the digest is the SHA-256
--                          of the file
-- in   $qmd_version  text  that ran them
insert into schema_migrations
select version, name, digest, $qmd_version, now()::timestamp
from (
    select unnest(
        from_json(
            $migrations, '[{"version": "INTEGER", "name": "VARCHAR", "digest": "VARCHAR"}]'
        ),
        recursive := true
    )
)
