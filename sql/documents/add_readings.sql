-- Keep what readers have made of files.
--
-- in   made  relation  digest text, reader text, hash text?, said text: as in `readings`
insert into readings
select digest, reader, hash, said::json
from made
where (digest, reader) not in (select (digest, reader) from readings)
