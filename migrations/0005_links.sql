-- What a text points at, and how it is divided: links, tags and headings.

-- Four texts that say one thing of each, in the order of the text. One text is stored in a tenth of the
-- time that a row for each would take, and renamed or equal files cost nothing. Null in content from
-- before: the next update fills it in.
alter table content add column outline struct(
    kinds text,                            -- a letter each: qmd/text/outline.py
    lines text,                            -- numbers from 1, a blank between two
    texts text,                            -- of headings, links and tags, U+001E between two
    targets text                           -- of links, as written; of others nothing; U+001E between two
);
