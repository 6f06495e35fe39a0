-- Note what is not indexed of a collection.
--
-- in   $collection  text
-- in   $found       json  array of arrays: suffix, files, why
insert into left_out
select $collection, found->>0, found->>2, (found->>1)::ubigint
from (select unnest(from_json($found, '["JSON"]')) as found)
