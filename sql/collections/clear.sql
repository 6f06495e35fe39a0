-- Forget all collections, to write them anew.
delete from collections
