-- Add tombstones for the documents that the accepted ones replace, and for documents inside of their files:
-- their postings stay until the next merge.
--
-- in   accepted  relation  made by documents/accept
insert into tombstones
select seen_id from accepted where seen_id > 0
union all
select document_id
from documents
where
    container is not null
    and (collection, container) in (select (collection, path) from accepted where seen_id > 0)
