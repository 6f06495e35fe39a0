-- The terms that are asked for.
--
-- in   $rows   json  array of {clause, weight, term_id}
insert into asked_terms
select unnest(
    from_json($rows, '[{"clause": "INTEGER", "weight": "DOUBLE", "term_id": "BIGINT"}]'),
    recursive := true
)
