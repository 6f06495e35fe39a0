-- Revisions of all documents, in no order.
--
-- out  document_id  integer
-- out  revision     ubigint
select document_id, revision
from documents
