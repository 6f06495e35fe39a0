-- The ledger of migrations.
create table if not exists schema_migrations (
    version integer not null,       -- unique
    name text not null,
    digest text not null,           -- SHA-256 of the file
    qmd_version text not null,      -- that ran it
    applied timestamp not null      -- UTC
)
