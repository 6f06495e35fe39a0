-- The elements of the phrases that are asked for: the term at a place, from 0.
--
-- in   $rows  json  array of {phrase, place, term_id}
insert into asked_elements
select unnest(
    from_json($rows, '[{"phrase": "INTEGER", "place": "INTEGER", "term_id": "BIGINT"}]'),
    recursive := true
)
