-- Keyword search: BM25 over title, path and body, any word.
--
-- A term's frequency in a document is weighted by field (a simple form of BM25F). The number of
-- documents and their average length are counted just before, by search/statistics, and the number of
-- those with a term by search/frequencies: nothing is kept that could be out of date. Postings of
-- documents that are gone do not count.
--
-- k1 = 1.5, b = 0.75 and the weights 4 / 1.5 / 1 of title, path and body: docs/relevance.md. The
-- idf is Lucene's, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Scores are rounded
-- to twelve places, so that the order of a sum does not decide the order of the answer.
--
-- in   $terms           json      array of term_id; of a phrase that has been counted: -1, -2 ...
-- in   $term_weights    json      array of double
-- in   $term_documents  json      array of double: documents that have it
-- in   $counted         json?     array of bigint: postings of phrases, counted before: -1, -2 ...
-- in   $holders         json?     array of document_id
-- in   $frequencies     json?     array of double: weighted by field
-- in   $lengths         json?     array of double: of its document
-- in   $total           double    documents in all
-- in   $average         double    length of a document
-- in   $buried          boolean?  null: there are no tombstones
-- in   $allowed         json?     array of document_id: no others
-- in   $least           double?   bm25 of a document
-- in   $limit           integer   documents
-- out  document_id      integer
-- out  bm25             double    0 and up
with asked as (
    select
        unnest(from_json($terms, '["BIGINT"]')) as term_id,
        unnest(from_json($term_weights, '["DOUBLE"]')) as weight,
        unnest(from_json($term_documents, '["DOUBLE"]')) as documents
),

worth as (
    select
        term_id,
        weight * ln(1 + ($total - documents + 0.5::double) / (documents + 0.5::double))
            * 2.5::double as weight
    from asked
),

found as (
    select
        postings.document_id,
        4.0::double * title_frequency + 1.5::double * path_frequency + body_frequency as frequency,
        length,
        weight
    from postings
    join worth on postings.term_id = worth.term_id
    -- if $buried
    anti join tombstones on postings.document_id = tombstones.document_id and $buried
    -- end
    -- if $counted
    union all
    select holder, frequency, length, weight
    from (
        select
            unnest(from_json($counted, '["BIGINT"]')) as term_id,
            unnest(from_json($holders, '["UINTEGER"]')) as holder,
            unnest(from_json($frequencies, '["DOUBLE"]')) as frequency,
            unnest(from_json($lengths, '["DOUBLE"]')) as length
    ) as counted
    join worth on counted.term_id = worth.term_id
    -- end
)

select
    document_id,
    round(sum(
        weight * frequency
        / (frequency + 1.5::double * (0.25::double + 0.75::double * length / $average))
    ), 12) as bm25
from found
-- if $allowed
where document_id in (select unnest(from_json($allowed, '["UINTEGER"]')))
-- end
group by document_id
-- if $least
having bm25 >= $least
-- end
order by bm25 desc, document_id
limit $limit
