-- Records of solved problems, submitted by agents: the only part of an index, besides kept answers of
-- models, that is not made from files.

-- Each is also a document of the collection `experiences`, rendered as Markdown. Its texts stand there
-- and nowhere else: a part is where one is, in characters from the start, and how many it has.
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

-- How often records have answered a query; none of those that never did. Apart from them, so that
-- counting does not write their texts again.
create table experience_counts (
    id text not null,                      -- of a record; unique
    query_count ubigint not null,
    updated_at timestamp not null          -- UTC
);

-- The name is taken from now on. A folder that had it is read again under its new name; index.yml is
-- looked at again, and refused if it still has the old one.
insert into tombstones select document_id from documents where collection = 'experiences';
delete from documents where collection = 'experiences';
delete from collections where name = 'experiences';
delete from contexts where collection = 'experiences';
delete from settings where name = 'config_digest';
