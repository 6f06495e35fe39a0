-- Note the bytes of texts without a document, which are counted from now on.
--
-- in   $bytes  integer
insert into counters values ('old_bytes', $bytes)
