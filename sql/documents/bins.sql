-- Signatures of texts. Their hashes, which take as long to read, are asked for where they matter.
--
-- out  place  bigint
-- out  bins   blob
select rowid as place, bins
from sketches
where octet_length(bins) > 0
