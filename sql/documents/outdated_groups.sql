-- Check for texts that documents have left since the texts were grouped.
--
-- out  outdated  boolean
select exists (from left_texts) as outdated
