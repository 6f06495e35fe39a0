-- Signatures of texts.
--
-- out  hash  text
-- out  bins  blob
select hash, bins
from sketches
where octet_length(bins) > 0
