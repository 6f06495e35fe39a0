-- Counts of missing and of surplus postings of some documents.
--
-- in   expected    relation  document_id, term_id, title_frequency, path_frequency, body_frequency,
--                            positions: all that there should be of these documents
-- in   $first      integer   the lowest document_id
-- in   $last       integer   the highest
-- out  missing     bigint
-- out  unexpected  bigint
with there as materialized (
    select
        document_id,
        term_id,
        title_frequency,
        path_frequency,
        body_frequency,
        positions
    from postings
    where
        document_id between $first and $last
        and document_id in (select document_id from documents)
),

wanted as materialized (
    select
        document_id,
        term_id,
        title_frequency,
        path_frequency,
        body_frequency,
        positions
    from expected
)

select
    (select count(*) from (from wanted except all from there)) as missing,
    (select count(*) from (from there except all from wanted)) as unexpected
