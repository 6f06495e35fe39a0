-- A long text is stored in pieces, which are read one after the other: of a text in one value, several
-- whole copies are in memory at once. Its `body` in `content` is empty, which that of no other text is.

create table text_pieces (
    hash text not null,                    -- of the content
    number uinteger not null,              -- 0, 1, 2 … within the text
    lines uinteger not null,               -- line feeds in it
    characters uinteger not null,          -- of it
    bytes uinteger not null,               -- of it, in UTF-8
    text text not null using compression uncompressed  -- as that of `content`
);
