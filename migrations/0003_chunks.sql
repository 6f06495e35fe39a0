-- Passages of content, and answers of models that are worth keeping.

create table chunks (
    hash text not null,                    -- of the content
    seq usmallint not null,                -- 0, 1, 2 … within the content
    position uinteger not null,            -- characters before it
    length uinteger not null,              -- characters
    line uinteger not null,                -- first line, from 1
    tokens uinteger not null               -- as the embedding model counts
);

create table cache (
    key text not null,                     -- XXH3-128 of model, prompt and input; unique
    kind text not null,                    -- 'expansion' or 'rerank'
    value json not null,
    created timestamp not null
);
