-- The migrations that have run.
--
-- out  version      integer
-- out  name         text
-- out  digest       text  SHA-256 of the file
-- out  qmd_version  text  that ran it
select version, name, digest, qmd_version
from schema_migrations
order by version
