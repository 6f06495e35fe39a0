-- Forget which documents were grouped.
delete from counters
where name = 'grouped_documents'
