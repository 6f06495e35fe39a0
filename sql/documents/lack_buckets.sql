-- Check for signatures from before the keys of their buckets were stored.
--
-- out  lacking  boolean
select exists (from sketches where buckets is null and octet_length(bins) > 0) as lacking
