-- Record that a migration has run.
--
-- in   $version      integer
-- in   $name         text
-- in   $digest       text  SHA-256 of the file
-- in   $qmd_version  text  that ran it
insert into schema_migrations
values ($version, $name, $digest, $qmd_version, now()::timestamp)
