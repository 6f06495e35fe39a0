-- Documents of a batch whose previous version is unchanged in the index.
--
-- A document that another process has changed in the meantime is left out; its file will be
-- compared again. So is one whose collection has been removed or renamed.
--
-- in   incoming  relation  of documents, with seen_id: the document_id that it replaces, 0 for none
create or replace temp table accepted as
select
    incoming.*,
    (select value from counters where name = 'next_document_id') + incoming.number as document_id
from incoming
left join documents
    on incoming.collection = documents.collection and incoming.path = documents.path
where coalesce(documents.document_id, 0) = incoming.seen_id
    and incoming.collection in (select name from collections)
