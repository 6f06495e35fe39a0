-- Count the answers with some records.
--
-- in   $counted  json       array of {id, count}, no id twice
-- in   $now      timestamp  UTC
merge into experience_counts
using (
    select id, counted.count
    from (
        select unnest(
            from_json($counted, '[{"id": "VARCHAR", "count": "UBIGINT"}]'), recursive := true
        )
    ) as counted
    semi join experiences on counted.id = experiences.id
) as counted
on experience_counts.id = counted.id
when matched then update set query_count = query_count + counted.count, updated_at = $now
when not matched then insert values (counted.id, counted.count, $now)
