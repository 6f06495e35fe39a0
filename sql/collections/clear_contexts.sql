-- Forget all contexts, to write them anew.
delete from contexts
