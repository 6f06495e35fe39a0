-- Places of signatures, with gaps. See documents/bins.
--
-- out  places  bigint  the first that is too high for all
select coalesce(max(rowid) + 1, 0) as places
from sketches
