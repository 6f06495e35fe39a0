-- Signatures of texts from before the keys of their buckets were stored.
--
-- in   $low    bigint  the first place
-- in   $high   bigint  the first that is too high
-- out  place   bigint
-- out  bins    blob
select rowid as place, bins
from sketches
where rowid >= $low and rowid < $high and buckets is null and octet_length(bins) > 0
