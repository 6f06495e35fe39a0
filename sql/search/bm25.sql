-- Keyword search: BM25 over title, path and body, any word.
--
-- A term's frequency in a document is weighted by field (a simple form of BM25F). The number of
-- documents and their average length are counted here, and the number of those with a term just
-- before, by search/frequencies: nothing is kept that could be out of date. Postings of documents
-- that are gone do not count.
--
-- k1 = 1.5, b = 0.75 and the weights 4 / 1.5 / 1 of title, path and body: docs/relevance.md. The
-- idf is Lucene's, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Scores are rounded
-- to twelve places, so that the order of a sum does not decide the order of the answer.
--
-- in   $terms       json     array of {term_id, weight, documents}
-- in   $phrases     json     array of {document_id, frequency, length, weight, documents}
-- in   $allowed     json?    array of document_id: no others
-- in   $limit       integer  documents; more, if the last ones score the same
-- out  document_id  integer
-- out  bm25         double   0 and up
with found as (
    select
        postings.document_id,
        4.0::double * title_frequency + 1.5::double * path_frequency + body_frequency as frequency,
        length,
        weight,
        documents
    from postings
    join (
        select unnest(
            from_json($terms, '[{"term_id": "BIGINT", "weight": "DOUBLE", "documents": "DOUBLE"}]'),
            recursive := true
        )
    ) as asked on postings.term_id = asked.term_id
    anti join tombstones on postings.document_id = tombstones.document_id
    union all
    select unnest(
        from_json(
            $phrases,
            '[{"document_id": "UINTEGER", "frequency": "DOUBLE", "length": "UINTEGER",
               "weight": "DOUBLE", "documents": "DOUBLE"}]'
        ),
        recursive := true
    )
),

statistics as (
    select
        count(*)::double as total,
        avg(title_length + path_length + body_length) as average_length
    from documents
)

select
    document_id,
    round(sum(
        weight
        * ln(1 + (total - documents + 0.5::double) / (documents + 0.5::double))
        * frequency * 2.5::double
        / (frequency + 1.5::double * (0.25::double + 0.75::double * length / average_length))
    ), 12) as bm25
from found, statistics
where
    $allowed is null
    or document_id in (select unnest(from_json($allowed, '["UINTEGER"]')))
group by document_id
qualify rank() over (order by bm25 desc) <= $limit
