-- Pieces of a long text, in order.
--
-- in   $hash   text
-- in   $first  integer  number of the first
-- in   $last   integer  of the last
-- out  number  integer
-- out  text    text
select number, text
from text_pieces
where hash = $hash and number between $first and $last
order by number
