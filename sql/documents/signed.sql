-- Signatures of some texts, of those that have one.
--
-- in   $hashes  json  array, none twice
-- out  hash     text
-- out  bins     blob
select hash, bins
from sketches
where
    hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
    and octet_length(bins) > 0
order by hash
