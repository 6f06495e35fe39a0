-- Check for signatures that were not compared with the others, and for documents since the texts
-- were grouped.
--
-- out  unsettled  boolean
select
    exists (from sketches where not settled)
    or exists (
        from documents
        where
            document_id
            >= coalesce((select value from counters where name = 'grouped_documents'), 0)
    ) as unsettled
