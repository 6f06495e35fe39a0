-- Remove all contexts of index.yml, to add them again.
delete from contexts
where collection is distinct from 'experiences'
