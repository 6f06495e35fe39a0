-- Documents that no search in the log has found.
--
-- needs  documents, searches
-- out  file         text
-- out  title        text
-- out  date         timestamp  as in `documents`
-- out  document_id  uinteger   changes whenever the document does
create view never_found as
select file, title, date, document_id
from documents
where file not in (select unnest(found) from searches)
