-- The readers that have read files of a collection, with their versions.
--
-- in   $collection  text
-- out  reader       text
select distinct reader
from documents
where collection = $collection and reader is not null
