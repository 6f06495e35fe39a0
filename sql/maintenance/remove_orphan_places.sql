-- Remove places that no document has.
delete from places
where id not in (select places from documents where places is not null)
