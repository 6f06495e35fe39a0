-- Postings: which documents contain which terms, and where.

create table postings (
    term_id bigint not null,               -- of words.term_id
    document_id uinteger not null,
    title_frequency uinteger not null,     -- occurrences in the title
    path_frequency uinteger not null,
    body_frequency uinteger not null,
    length uinteger not null,              -- occurrences of all terms in the document
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
