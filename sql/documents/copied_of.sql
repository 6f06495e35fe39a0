-- Those of some texts that several documents have, other than short ones.
--
-- in   $hashes  json  array, none twice
-- out  hash     text
with several as materialized (
    select hash
    from documents
    where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
    group by hash
    having count(*) > 1
)

select hash
from sketches
where hash in (select hash from several) and octet_length(bins) > 0
order by hash
