-- Remove a collection that is stored in the index, if it has no document; that of records stays.
--
-- in   $collection  text
delete from collections
where
    name = $collection
    and root = ''
    and name <> 'experiences'
    and name not in (select collection from documents)
