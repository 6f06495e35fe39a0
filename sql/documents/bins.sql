-- Signatures of texts. Their hashes, which take as long to read, are asked for where they matter.
--
-- in   $low    bigint  the first place
-- in   $high   bigint  the first that is too high
-- out  place   bigint
-- out  bins    blob
select rowid as place, bins
from sketches
where rowid >= $low and rowid < $high and octet_length(bins) > 0
