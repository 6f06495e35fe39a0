-- The answer, each value of it as JSON.
select to_json(columns(*))
from memory.qmd.answer
