-- Remove the kept answers of models.
delete from cache
