-- Functions and keywords for completion, without those of views.
--
-- out  name  text
select distinct function_name as name
from duckdb_functions()
where
    function_type in ('scalar', 'aggregate', 'macro')
    and regexp_full_match(function_name, '[a-z][a-z0-9_]*')
    and not starts_with(function_name, 'icu_collate')
    and not starts_with(function_name, 'pg_')
union
select keyword_name
from duckdb_keywords()
order by name
