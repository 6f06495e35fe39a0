-- Remove the documents that the accepted ones replace.
--
-- in   accepted  relation  made by documents/accept
delete from documents
where document_id in (select seen_id from accepted where seen_id > 0)
