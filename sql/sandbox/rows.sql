-- The answer. Its columns are those of the query.
from memory.qmd.answer
