-- Check for texts that are gone, and for groups that were left by all documents but one.
--
-- out  outdated  boolean
select
    exists (from sketches anti join documents using (hash))
    or exists (
        select leader
        from copies
        left join documents using (hash)
        group by leader
        having count(document_id) < 2
    ) as outdated
