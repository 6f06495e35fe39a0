-- Remove the postings of documents that get others.
--
-- in   again  relation  document_id, lang, link_percent, data_bytes, and the lengths and starts of `documents`
delete from postings
where document_id in (select document_id from again)
