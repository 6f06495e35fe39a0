-- Check for texts that are gone, new copies and left ones.
--
-- out  outdated  boolean
select
    exists (from sketches where hash not in (select hash from documents))
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
    ) as outdated
