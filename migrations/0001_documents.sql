-- Documents are paths in collections; content is kept once under its hash.

create table collections (
    name text not null,                    -- unique
    root text not null,                    -- absolute path of the folder
    mask text not null,                    -- glob of the files that belong to it
    ignored text[] not null,               -- globs of files that do not
    update_command text,                   -- run before it is indexed
    included boolean not null,             -- whether unscoped searches look into it
    follow_symlinks boolean not null,
    respect_gitignore boolean not null
);

create table contexts (
    collection text,                       -- null: applies everywhere
    prefix text not null,                  -- folder inside the collection, '' for all of it
    body text not null
);

create table content (
    hash text primary key,                 -- SHA-256 of the body in UTF-8, 64 hex digits
    body text not null using compression uncompressed  -- a page of results in 2 ms, not 30
);

create table documents (
    document_id uinteger not null,         -- never used again; a changed document gets a new one
    collection text not null,
    path text not null,                    -- below the collection's root, with /
    title text not null,
    hash text not null,                    -- of its content
    metadata json,                         -- frontmatter
    dated timestamp not null,              -- UTC: frontmatter, else file name, else modified
    modified timestamp not null,           -- UTC, of the file
    lossy boolean not null,                -- invalid UTF-8 was replaced
    size ubigint not null,                 -- bytes of the file
    mtime_ns bigint not null,              -- -1: too fresh to be trusted, check again
    inode ubigint not null,
    checksum text not null,                -- XXH3-128 of the file's bytes
    title_length uinteger not null,        -- occurrences of terms
    path_length uinteger not null,
    body_length uinteger not null,
    path_start uinteger not null,          -- position of the path's first word
    body_start uinteger not null
);

create table settings (
    name text not null,                    -- unique
    value text not null
);

create table counters (
    name text not null,                    -- unique
    value ubigint not null
);
insert into counters values ('next_document_id', 1), ('merged_postings', 0), ('runs', 0);
