-- Content that no document has.
--
-- out  texts  bigint
-- out  bytes  bigint
select count(*) as texts, coalesce(sum(strlen(body)), 0)::bigint as bytes
from content
where hash not in (select hash from documents)
