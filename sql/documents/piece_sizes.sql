-- Sizes of the pieces of a long text, in order; of any other text none.
--
-- in   $hash       text
-- out  number      integer  0, 1, 2 …
-- out  lines       integer  line feeds in it
-- out  characters  integer
-- out  bytes       integer  in UTF-8
select number, lines, characters, bytes
from text_pieces
where hash = $hash
order by number
