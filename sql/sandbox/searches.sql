-- Entries of the search log. See sql/views/searches.sql.
create table memory.qmd.searches (
    searched_at timestamp not null,         -- UTC
    verb text not null,            -- search, vsearch or query
    query text not null,
    collections text[],            -- null: those that searches look into by default
    at_most bigint not null,       -- results that were asked for
    milliseconds double not null,
    results bigint not null,
    found text[] not null          -- files, best first
)
