-- Search calls of a statement. See sql/views/bm25.sql.
create table memory.qmd.calls (
    call integer not null,         -- unique
    search text not null,          -- bm25, vsearch or hybrid
    query_text text not null,
    at_most bigint not null,       -- documents
    among text[] not null          -- values of the parameters that choose documents, in order
)
