-- Take away the documents that the accepted ones replace.
delete from documents
where document_id in (select seen_id from accepted where seen_id > 0)
