-- The tables of the index.
--
-- out  name  text
select table_name as name
from duckdb_tables()
where database_name = 'qmd_index'
order by name
