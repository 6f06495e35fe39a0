-- Signatures of some texts, of those that have one.
--
-- in   $hashes  json  array, none twice
-- out  hash     text
-- out  bins     blob
with wanted as materialized (  -- first: else the signatures of all texts are read
    select rowid as place
    from sketches
    where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
)

select hash, bins
from sketches
where
    rowid in (select place from wanted)
    and octet_length(bins) > 0
order by hash
