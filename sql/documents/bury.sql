-- Note which documents the accepted ones replace, with those that were inside of their files: their postings stay until the next merge.
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
