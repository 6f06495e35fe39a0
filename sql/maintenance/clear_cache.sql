-- Remove the cached answers of models.
delete from cache
