-- Keys of the buckets of signatures. The signatures and hashes take ten times as long to read: they are asked
-- for where they matter.
--
-- in   $low     bigint      the first place
-- in   $high    bigint      the first that is too high
-- out  place    bigint
-- out  buckets  uinteger[]
select rowid as place, buckets
from sketches
where rowid >= $low and rowid < $high and len(buckets) > 0
