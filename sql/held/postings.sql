-- The postings of some terms, in the order of the table.
--
-- in   $first       bigint    a term_id
-- in   $last        bigint    the highest of the terms
-- in   $since       integer?  lowest document_id; null: all
-- in   $buried      boolean?  null: there are no tombstones
-- out  term_id      bigint
-- out  document_id  integer
-- out  frequency    bigint    doubled: weighted by field as in search/bm25
-- out  occurrences  bigint
select
    term_id,
    postings.document_id,
    (2 * (@title * title_frequency + @path * path_frequency + body_frequency))::bigint as frequency,
    len(positions) as occurrences
from postings
-- if $buried
anti join tombstones on postings.document_id = tombstones.document_id and $buried
-- end
where term_id between $first and $last
-- if $since
and postings.document_id >= $since
-- end
