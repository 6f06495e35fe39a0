-- Store plans as a result.
--
-- in   $plans  json  array of {explain_key, explain_value}
create table memory.qmd.answer as
select unnest(
    from_json($plans, '[{"explain_key": "VARCHAR", "explain_value": "VARCHAR"}]'), recursive := true
)
