-- Check for documents since the texts were grouped whose texts have a signature that is not empty.
--
-- out  ungrouped  boolean
with recent as (
    select hash
    from documents
    where document_id >= coalesce((select value from counters where name = 'grouped_documents'), 0)
)

select exists (
    from recent
    join sketches using (hash)
    where octet_length(bins) > 0
) as ungrouped
