-- Amount of work of a merge.
--
-- out  postings    bigint  rows
-- out  merged      bigint  rows that the last merge left in order
-- out  runs        bigint  commits since then
-- out  tombstones  bigint  documents that are gone, whose postings are there
-- out  documents   bigint
select
    (select count(*) from postings) as postings,
    (select value from counters where name = 'merged_postings') as merged,
    (select value from counters where name = 'runs') as runs,
    (select count(*) from tombstones) as tombstones,
    (select count(*) from documents) as documents
