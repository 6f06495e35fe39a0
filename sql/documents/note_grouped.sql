-- Note that the texts of all documents were grouped; the counter is absent before the first time.
insert into counters
select 'grouped_documents', value
from counters
where name = 'next_document_id'
