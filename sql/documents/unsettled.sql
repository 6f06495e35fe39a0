-- Check for signatures that were not compared, texts that are gone, new copies and left ones.
--
-- out  unsettled  boolean
select
    exists (from sketches where not settled or hash not in (select hash from documents))
    or exists (
        select hash
        from documents
        join sketches using (hash)
        where octet_length(bins) > 0 and hash not in (select hash from copies)
        group by hash
        having count(*) > 1
    )
    or exists (
        select leader
        from copies
        left join documents using (hash)
        group by leader
        having count(document_id) < 2
    ) as unsettled
