-- Check for texts without a signature, among those of documents since the texts were grouped.
--
-- out  lacking  boolean
with recent as (
    select hash
    from documents
    where document_id >= coalesce((select value from counters where name = 'grouped_documents'), 0)
)

select exists (from recent anti join sketches using (hash)) as lacking
