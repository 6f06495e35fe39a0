-- Check for documents since the texts were grouped whose texts have a signature that is not empty.
--
-- in   $since     bigint   see documents/ungrouped_since
-- out  ungrouped  boolean
with recent as (
    select hash
    from documents
    where document_id >= $since
)

select exists (
    from recent
    join sketches using (hash)
    where octet_length(bins) > 0
) as ungrouped
