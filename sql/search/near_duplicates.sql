-- Documents that have near-duplicates.
--
-- out  document_id  integer
-- out  leader       text     hash of the text that leads the group
-- out  file         text     collection/path
select document_id, leader, collection || '/' || path as file
from copies
join documents using (hash)
order by document_id
