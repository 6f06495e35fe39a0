-- Give texts their outlines.
--
-- in   made  relation  hash text, outline: as in `content`; no hash twice
update content
set outline = made.outline
from made
where content.hash = made.hash and content.outline is null
