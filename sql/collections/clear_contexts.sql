-- Forget all contexts that index.yml has, to write them anew.
delete from contexts
where collection is distinct from 'experiences'
