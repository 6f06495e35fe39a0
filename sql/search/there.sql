-- Those of some names that documents have.
--
-- in   $names  json  array of collection/path
-- out  name    text
select collection || '/' || path as name
from documents
where (collection, path) in (
    select (split_part(name, '/', 1), substr(name, instr(name, '/') + 1))
    from (select unnest(from_json($names, '["VARCHAR"]')) as name)
)
order by name
