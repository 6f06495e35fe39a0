-- Set the lengths of documents, the places of their fields, their languages and percent of links.
--
-- in   again  relation  document_id, lang and link_percent, and the lengths and starts of `documents`
update documents
set
    title_length = again.title_length,
    path_length = again.path_length,
    body_length = again.body_length,
    path_start = again.path_start,
    body_start = again.body_start,
    lang = again.lang,
    link_percent = again.link_percent
from again
where documents.document_id = again.document_id
