-- Remove all collections of index.yml, to add them again. That of records is not among them.
delete from collections
where name <> 'experiences'
