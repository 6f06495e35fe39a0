-- Documents of a batch whose previous version is unchanged in the index.
--
-- A document that another process has changed in the meantime is left out; its file will be
-- compared again. So is one whose collection has been removed or renamed.
--
-- One that is inside of a file is accepted with that file.
--
-- in   incoming  relation  of documents, with seen_id: the document_id that it replaces, 0 for none
create or replace temp table accepted as
with given as materialized (  -- it can be read once
    from incoming
),

files as (
    select number, given.path
    from given
    left join documents on given.collection = documents.collection and given.path = documents.path
    where
        given.container is null
        and coalesce(documents.document_id, 0) = given.seen_id
        and given.collection in (select name from collections)
)

select
    given.*,
    (select value from counters where name = 'next_document_id') + given.number as document_id
from given
where number in (select number from files) or container in (select path from files)
