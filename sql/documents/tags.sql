-- Tags of a document, of its front matter and of its text.
--
-- in   $document_id  integer
-- out  tags          text[]?  without #
select tags
from documents
where document_id = $document_id
