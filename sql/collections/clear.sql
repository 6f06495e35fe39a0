-- Forget all collections that index.yml names, to write them anew. It does not name that of records.
delete from collections
where name <> 'experiences'
