-- Texts that are nearly the same, by MinHash signatures of their runs of three words.

create table sketches (
    hash text not null,                    -- of the content; unique
    bins blob not null,                    -- 128 minima, 16 bits each; empty: too few words
    settled boolean not null               -- compared with the others, which `copies` shows
);

create table copies (
    hash text not null,                    -- of a content that is nearly the same as its leader's
    leader text not null,                  -- hash; also of itself, with similarity 1
    similarity float not null              -- share of the runs of words that both have, 0 to 1
);
