-- Check for documents whose postings were made by earlier rules.
--
-- out  stale  boolean
select exists (
    select 1
    from documents
    where document_id < (select value from counters where name = 'stale_postings')
) as stale
