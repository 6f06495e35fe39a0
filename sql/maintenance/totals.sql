-- Totals of the index.
--
-- out  documents  bigint
-- out  contents   bigint      different texts that documents have
-- out  orphans    bigint      texts that no document has
-- out  chunks     bigint
-- out  words      bigint
-- out  postings   bigint
-- out  modified   timestamp?  UTC, of the file that changed last
select
    (select count(*) from documents) as documents,
    (select count(distinct hash) from documents) as contents,
    (select count(*) from content where hash not in (select hash from documents)) as orphans,
    (select count(*) from chunks) as chunks,
    (select count(*) from words) as words,
    (select count(*) from postings) as postings,
    (select max(modified) from documents) as modified
