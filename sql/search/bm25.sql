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
-- in   $terms           bigint[]    term_id of each term
-- in   $term_weights    double[]
-- in   $term_documents  double[]    that have it
-- in   $counted         uinteger[]  document_id: postings of phrases, counted before; the next four, too
-- in   $frequencies     double[]    weighted by field
-- in   $lengths         double[]
-- in   $weights         double[]
-- in   $documents       double[]    that have the phrase
-- in   $total           double      documents in all
-- in   $average         double      length of a document
-- in   $allowed         json?       array of document_id: no others
-- in   $limit           integer     documents; more, if the last ones score the same
-- out  document_id      integer
-- out  bm25             double      0 and up
with asked as (
    select
        unnest($terms::bigint[]) as term_id,
        unnest($term_weights::double[]) as weight,
        unnest($term_documents::double[]) as documents
),

found as (
    select
        postings.document_id,
        4.0::double * title_frequency + 1.5::double * path_frequency + body_frequency as frequency,
        length::double as length,
        weight,
        documents
    from postings
    join asked on postings.term_id = asked.term_id
    anti join tombstones on postings.document_id = tombstones.document_id
    union all
    select
        unnest($counted::uinteger[]),
        unnest($frequencies::double[]),
        unnest($lengths::double[]),
        unnest($weights::double[]),
        unnest($documents::double[])
),

scored as materialized (
    select
        document_id,
        round(sum(
            weight
            * ln(1 + ($total - documents + 0.5::double) / (documents + 0.5::double))
            * frequency * 2.5::double
            / (frequency + 1.5::double * (0.25::double + 0.75::double * length / $average))
        ), 12) as bm25
    from found
    where
        $allowed is null
        or document_id in (select unnest(from_json($allowed, '["UINTEGER"]')))
    group by document_id
)

select document_id, bm25
from scored
where bm25 >= (select min(bm25) from (select bm25 from scored order by bm25 desc limit $limit))
