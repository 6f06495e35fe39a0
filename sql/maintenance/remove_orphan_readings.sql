-- Forget what readers have made of files whose texts are gone, and files that they could not read.
delete from readings
where hash is null or hash not in (select hash from content)
