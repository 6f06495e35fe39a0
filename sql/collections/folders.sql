-- Top folders of each collection.
--
-- out  collection  text
-- out  folder      text
-- out  documents   bigint
select collection, split_part(path, '/', 1) as folder, count(*) as documents
from documents
where contains(path, '/')
group by all
order by collection, folder
