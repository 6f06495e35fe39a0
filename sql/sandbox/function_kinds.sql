-- Functions of DuckDB: which are aggregates, and which give the same for the same rows at any time.
--
-- out  name           text
-- out  is_aggregate   boolean
-- out  is_consistent  boolean  false, too, for macros, which may call any function
select
    function_name as name,
    bool_or(function_type = 'aggregate') as is_aggregate,
    bool_and(
        coalesce(stability, 'VOLATILE') = 'CONSISTENT'
        -- of moments with a time zone, in DuckDB 2
        or (function_name in ('+', '-') and stability = 'CONSISTENT_WITHIN_QUERY')
    ) as is_consistent
from duckdb_functions()
where function_type in ('scalar', 'aggregate', 'macro')
group by function_name
order by name
