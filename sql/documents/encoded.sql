-- The text of a content in UTF-8: of a large one, a Python string takes up to four times as much.
--
-- in   $hash  text
-- out  data   blob
select encode(body) as data
from content
where hash = $hash
