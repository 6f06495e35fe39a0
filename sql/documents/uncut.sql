-- Long texts that are stored in one piece: of an earlier version, or imported.
--
-- in   $limit  integer  bytes of a text that is not long, at most
-- out  hash    text
select hash
from content
where strlen(body) > $limit
order by hash
