-- Results of the searches.
create table memory.qmd.found (
    call integer not null,
    rank integer not null,         -- from 1
    score double not null,
    docid text not null,
    file text not null,
    collection text not null,
    path text not null,
    title text not null,
    line integer not null,         -- from 1
    snippet text not null
)
