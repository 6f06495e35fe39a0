-- Check for signatures that were not compared with the others.
--
-- out  unsettled  boolean
select exists (from sketches where not settled) as unsettled
