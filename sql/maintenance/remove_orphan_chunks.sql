-- Remove chunks of content that no document has.
delete from chunks
where hash not in (select hash from documents)
