-- Whether some text has no outline yet.
--
-- out  lacking  boolean
select exists (from content where outline is null) as lacking
