-- Set the lengths of documents, the places of their fields, their languages, percent of links and bytes of data.
--
-- in   again  relation  document_id, lang, link_percent and data_bytes, and the lengths and starts of `documents`
update documents
set
    title_length = again.title_length,
    path_length = again.path_length,
    body_length = again.body_length,
    path_start = again.path_start,
    body_start = again.body_start,
    lang = again.lang,
    link_percent = again.link_percent,
    data_bytes = again.data_bytes,
    revision = default
from again
where documents.document_id = again.document_id
