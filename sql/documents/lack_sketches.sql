-- Check for texts without a signature.
--
-- out  lacking  boolean
select exists (from documents where hash not in (select hash from sketches)) as lacking
