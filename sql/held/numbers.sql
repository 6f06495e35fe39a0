-- Numbers of documents, ascending.
--
-- in   $since       integer? lowest document_id; null: all
-- out  document_id  integer
select document_id
from documents
-- if $since
where document_id >= $since
-- end
order by document_id
