-- Remove the signatures of texts that no document has.
delete from sketches
where hash not in (select hash from documents)
