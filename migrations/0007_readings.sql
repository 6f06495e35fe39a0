-- Files that are no text: what has read them, and the places in them.

alter table documents add column reader text;     -- that has read the file, and its version; null: text
alter table documents add column container text;  -- path of the file that it is inside of; null: none
alter table documents add column places text;     -- id of its places; null: it has none

alter table collections add column converted text[];  -- globs of files that a command converts

-- Places in documents that have no lines of their own: pages, slides, moments.
create table places (
    id text not null,                      -- XXH3-128 of the others; unique
    kinds text not null,                   -- a letter each: qmd/text/places.py
    labels text not null,                  -- as people write them, U+001E between two
    lines text not null                    -- where each begins, from 1, a blank between two
);

-- What readers have made of files, kept for files that move or come back.
create table readings (
    digest text not null,                  -- SHA-256 of the bytes and the suffixes of the file
    reader text not null,                  -- and its version
    hash text,                             -- of the content; null: it could not be read
    said json not null                     -- what the reader said of the file, or why it failed
);

-- What was not indexed of a folder, by suffix.
create table left_out (
    collection text not null,
    suffix text,                           -- in lower case, '' for none; null: they are of any
    why text not null,
    files ubigint not null
);

-- Files that were taken for text as they are, and now have readers, are read again.
update documents
set mtime_ns = -1, checksum = ''
where
    collection <> 'experiences'
    and regexp_matches(
        lower(path),
        '\.(pdf|docx|pptx|xlsx|od[tsp]|epub|rtf|html?|xhtml|eml|mbox|ipynb|vtt|srt|csv|tsv|json|jsonl'
        || '|ndjson|geojson|org|rst|adoc|asciidoc|tex|canvas|opml)$'
    );
