-- Count the bytes of texts without a document no more, until they are noted again.
delete from counters
where name = 'old_bytes'
