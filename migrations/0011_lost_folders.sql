-- Folders that have lost their files all at once, whose documents are kept until their removal is confirmed.

create table lost_folders (
    collection text not null,
    folder text not null,                  -- absolute path; of the collection, or inside of it
    documents ubigint not null,            -- that are kept
    files ubigint not null                 -- that are left
);
