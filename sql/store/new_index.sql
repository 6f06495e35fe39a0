-- Make all tables of a new index, as the migrations leave them in one that has no documents.
--
-- The migrations decide what they are: a test compares both. To run all of them takes four times as long.

-- Migrations that have run, or whose result this file is.
create table schema_migrations (
    version integer not null,              -- unique
    name text not null,
    digest text not null,                  -- SHA-256 of the file
    qmd_version text not null,             -- that ran it
    applied timestamp not null             -- UTC
);

create table settings (
    name text not null,                    -- unique
    value text not null
);

create table counters (
    name text not null,                    -- unique
    value ubigint not null
);

insert into counters values
    ('next_document_id', 1),
    ('merged_postings', 0),
    ('runs', 0),
    ('next_chunk_id', 1),
    ('stale_postings', 0),                 -- documents with a lower number may have postings by earlier rules
    ('stale_chunks', 0),                   -- chunks with a lower number may be by earlier rules
    ('words_digest', 0);                   -- of all words and their numbers

-- Collections, and what belongs to them.

create table collections (
    name text not null,                    -- unique
    root text not null,                    -- absolute path of the folder
    mask text not null,                    -- glob of the files that belong to it
    ignored text[] not null,               -- globs of files that do not
    update_command text,                   -- run before it is indexed
    included boolean not null,             -- whether unscoped searches look into it
    follow_symlinks boolean not null,
    respect_gitignore boolean not null,
    converted text[]                       -- globs of files that a command converts
);

create table contexts (
    collection text,                       -- null: applies everywhere
    prefix text not null,                  -- folder inside the collection, '' for all of it
    body text not null
);

-- What was not indexed of a folder, by suffix.
create table left_out (
    collection text not null,
    suffix text,                           -- in lower case, '' for none; null: they are of any
    why text not null,
    files ubigint not null
);

-- Files that could not be read when their collection was last updated.
create table unread_files (
    collection text not null,
    path text not null,
    why text not null                      -- in one line
);

-- Folders that have lost their files all at once, whose documents are kept until their removal is confirmed.
create table lost_folders (
    collection text not null,
    folder text not null,                  -- absolute path; of the collection, or inside of it
    documents ubigint not null,            -- that are kept
    files ubigint not null                 -- that are left
);

-- Documents are paths in collections; content is kept once under its hash.

create table content (
    hash text primary key,                 -- SHA-256 of the body in UTF-8, 64 hex digits
    body text not null using compression uncompressed,  -- a page of results in 2 ms, not 30
    outline struct(
        kinds text,                        -- a letter each: qmd/text/outline.py
        lines text,                        -- numbers from 1, a blank between two
        texts text[],                      -- of headings, links and tags
        targets text[]                     -- of links, as written; of others nothing
    )
);

-- A long text is stored in pieces, and its `body` in `content` is empty, which that of no other text is.
create table text_pieces (
    hash text not null,                    -- of the content
    number uinteger not null,              -- 0, 1, 2 … within the text
    lines uinteger not null,               -- line feeds in it
    characters uinteger not null,          -- of it
    bytes uinteger not null,               -- of it, in UTF-8
    text text not null using compression uncompressed  -- as that of `content`
);

create table documents (
    document_id uinteger not null,         -- never used again; a changed document gets a new one
    collection text not null,
    path text not null,                    -- below the collection's root, with /
    title text not null,
    hash text not null,                    -- of its content
    dated timestamp not null,              -- UTC: front matter, else file name, else modified
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
    body_start uinteger not null,
    reader text,                           -- that has read the file, and its version; null: text
    container text,                        -- path of the file that it is inside of; null: none
    places text,                           -- id of its places; null: it has none
    ctime_ns bigint,                       -- nanoseconds since 1970: of the file's last change in any way
    matter uinteger,                       -- characters of its front matter; null: 0
    tags text[],                           -- of the front matter and of the text, none twice
    aliases text[],                        -- other names, of the front matter
    links text[],                          -- that the text does not show, and only its reader tells
    remark text,                           -- what is odd about the file; null: nothing
    lang text,                             -- ISO 639-1 code; null: nothing tells it
    link_percent utinyint,                 -- of its text in lists of links
    data_bytes ubigint,                    -- of its text in UTF-8: data such as base64, which is not searched
    metadata json using compression zstd,  -- front matter
    revision ubigint default hash(uuid())  -- another one after each change of what postings depend on
);

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

-- Postings: which documents contain which terms, and where.

create table postings (
    term_id bigint not null,               -- of words.term_id
    document_id uinteger not null,
    title_frequency uinteger not null,     -- occurrences in the title
    path_frequency uinteger not null,
    body_frequency uinteger not null,
    positions uinteger[] not null          -- in words from the start of the title, ascending
);

create table words (
    word text not null,                    -- as written, without case and accents
    head bigint not null,                  -- its first three characters, 21 bits each, from the left
    term text not null,                    -- its stem
    term_id bigint not null                -- low 63 bits of the term's MD5: nothing to renumber
);

-- Documents that are gone, but whose postings are still there.
create table tombstones (
    document_id uinteger not null
);

-- Texts that are nearly the same, by MinHash signatures of their runs of three words.

create table sketches (
    hash text not null,                    -- of the content; unique
    bins blob not null,                    -- 128 minima, 16 bits each; empty: too few words
    settled boolean not null,              -- compared with the others, which `copies` shows
    buckets uinteger[]                     -- keys of its buckets, 32 bits each; empty: too few words
);

create table copies (
    hash text not null,                    -- of a content that is nearly the same as its leader's
    leader text not null,                  -- hash; also of itself, with similarity 1
    similarity float not null              -- share of the runs of words that both have, 0 to 1
);

-- Texts that a document has left since the texts were grouped.
create table left_texts (
    hash text not null                     -- of the content; may be here several times
);

-- Passages of content with their vectors, and answers of models that are worth keeping.

-- What a vector depends on besides its text. Vectors of different rows are never compared.
create table embedding_models (
    model_id utinyint not null,            -- unique
    fingerprint text not null,             -- XXH3-128 of the model, its prompts and the chunk settings; unique
    name text not null,
    dimensions usmallint not null,
    chunk_tokens uinteger not null,        -- of a chunk, at most
    chunk_overlap double not null,         -- share of a chunk that the next one repeats
    created timestamp not null             -- UTC
);

create table chunks (
    chunk_id uinteger not null,            -- never used again
    model_id utinyint not null,            -- of the model that it was cut for
    hash text not null,                    -- of the content
    seq uinteger not null,                 -- 0, 1, 2 … within the content
    position uinteger not null,            -- characters before it
    length uinteger not null,              -- characters
    line uinteger not null,                -- first line, from 1
    tokens uinteger not null               -- as the model counts
);

-- One for each chunk that has been embedded.
create table embeddings (
    chunk_id uinteger not null,
    model_id utinyint not null,
    -- of length 1: the product of two is their cosine; compressed, all take three times as long
    vector float[] not null using compression uncompressed,
    -- for each dimension whether it is above 0
    signs bit not null using compression uncompressed
);

-- Cosines of passages that have nothing to do with each other, beside which others are judged.
create table cosines (
    model_id utinyint not null,            -- of embedding_models; unique
    mean double not null,
    spread double not null                 -- standard deviation, above 0
);

create table cache (
    key text not null,                     -- XXH3-128 of model, prompt and input; unique
    kind text not null,                    -- 'expansion' or 'rerank'
    value json not null,
    created timestamp not null
);

-- Records of solved problems, submitted by agents: the only part of an index, besides kept answers of
-- models, that is not made from files. See migrations/0004_experiences.sql.

create table experiences (
    id text not null,                      -- UUID; the path of its document is `<id>.md`; unique
    document_id uinteger not null,         -- of its document, which never changes
    title text not null,
    problem_description struct(start uinteger, length uinteger) not null,
    root_cause struct(start uinteger, length uinteger),
    solution struct(start uinteger, length uinteger) not null,
    context struct(start uinteger, length uinteger),
    keywords text[] not null,              -- lower case, none twice
    created_at timestamp not null          -- UTC
);

create table experience_counts (
    id text not null,                      -- of a record; unique
    query_count ubigint not null,
    updated_at timestamp not null          -- UTC
)
