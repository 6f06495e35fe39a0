-- How many documents a collection has, and when the newest file of them was modified.
--
-- in   $collection  text
-- out  documents    bigint
-- out  newest       bigint?  nanoseconds after 1970; null: there is none
select count(*) as documents, max(mtime_ns) as newest
from documents
where collection = $collection
