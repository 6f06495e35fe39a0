-- Signatures at some places, of texts that have one.
--
-- in   $places  json    array, none twice
-- out  hash     text
-- out  bins     blob
-- out  place    bigint
select hash, bins, rowid as place
from sketches
where
    rowid in (select unnest(from_json($places, '["BIGINT"]')))
    and octet_length(bins) > 0
order by hash
