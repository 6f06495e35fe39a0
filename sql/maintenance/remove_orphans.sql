-- Remove content that no document has.
delete from content
where hash not in (select hash from documents)
