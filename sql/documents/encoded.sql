-- The text of a content in UTF-8: of a large one, a Python string takes up to four times as much.
-- Of a long one, which is in pieces, nothing.
--
-- in   $hash  text
-- out  data   blob
select encode(body) as data
from content
where hash = $hash
