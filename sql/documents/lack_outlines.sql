-- Check for texts without an outline.
--
-- out  lacking  boolean
select exists (from content where outline is null) as lacking
