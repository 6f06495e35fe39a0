-- The result, each value as JSON.
select to_json(columns(*))
from memory.qmd.answer
