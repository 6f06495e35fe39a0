-- Add pieces of a long text.
--
-- in   pieces  relation  hash, number, lines, characters, bytes, text: as in `text_pieces`
insert into text_pieces by name
select hash, number, lines, characters, bytes, text
from pieces
