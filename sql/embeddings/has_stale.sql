-- Check for chunks that may have data.
--
-- out  stale  boolean
select coalesce(max(value), 0) > 0 as stale
from counters
where name = 'stale_chunks'
