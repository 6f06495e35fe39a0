-- Files of documents as they were at the last update; none of documents inside of another file.
--
-- out  document_id  integer
-- out  size         ubigint  bytes
-- out  mtime_ns     bigint   -1: too fresh to be trusted
select document_id, size, mtime_ns
from documents
where container is null
order by document_id
