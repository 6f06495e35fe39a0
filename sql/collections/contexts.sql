-- All contexts, the most general first.
--
-- out  collection  text?
-- out  prefix      text
-- out  body        text
select collection, prefix, body
from contexts
order by collection nulls first, length(prefix), prefix
