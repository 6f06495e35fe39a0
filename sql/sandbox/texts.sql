-- The result, all of it as text, as DuckDB writes it.
select columns(*)::varchar
from memory.qmd.answer
