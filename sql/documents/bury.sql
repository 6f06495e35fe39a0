-- Add tombstones for the documents that the accepted ones replace: their postings stay until the next
-- merge.
--
-- in   accepted  relation  made by documents/accept
insert into tombstones
select seen_id from accepted where seen_id > 0
