-- Size of the data to load into memory.
--
-- out  documents    bigint
-- out  occurrences  bigint  of terms
-- out  words        bigint
select
    count(*) as documents,
    coalesce(sum(title_length::bigint + path_length + body_length), 0)::bigint as occurrences,
    (select count(*) from words) as words
from documents
