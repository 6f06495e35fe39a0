-- Signatures of texts.
--
-- out  hash   text
-- out  bins   blob
-- out  place  bigint
select hash, bins, rowid as place
from sketches
where octet_length(bins) > 0
