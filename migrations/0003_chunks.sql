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

create table cache (
    key text not null,                     -- XXH3-128 of model, prompt and input; unique
    kind text not null,                    -- 'expansion' or 'rerank'
    value json not null,
    created timestamp not null
);

insert into counters values ('next_chunk_id', 1);
