-- Remove all collections of index.yml, to add them again. Those that are stored in the index have no folder.
delete from collections
where root <> ''
