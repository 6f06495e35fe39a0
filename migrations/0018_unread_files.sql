-- Files that could not be read when their collection was last updated.

create table unread_files (
    collection text not null,
    path text not null,
    why text not null  -- in one line
);
