-- Note which texts are nearly the same.
--
-- in   $found  json  array of {hash, leader, similarity}
insert into copies
select copy.hash, copy.leader, copy.similarity
from (
    select unnest(
        from_json($found, '[{"hash": "VARCHAR", "leader": "VARCHAR", "similarity": "FLOAT"}]')
    ) as copy
)
