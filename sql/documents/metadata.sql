-- Metadata of a document, of its front matter or of the properties of its file.
--
-- in   $document_id  integer
-- out  metadata      json?
select metadata
from documents
where document_id = $document_id
