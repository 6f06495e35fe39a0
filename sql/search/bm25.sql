-- Keyword search: BM25 over title, path and body, any word.
--
-- A clause is what one word of the query stands for: one term, or several that count as one. Its
-- frequency in a document is weighted by field (a simple form of BM25F); its document frequency,
-- the number of documents and their average length are counted here, so that they are always
-- exact. Postings of documents that are gone do not count.
--
-- k1 = 1.5, b = 0.75 and the weights 4 / 1.5 / 1 of title, path and body: docs/relevance.md. The
-- idf is Lucene's, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Scores are rounded
-- to twelve places, so that the order of a sum does not decide the order of the answer.
--
-- in   asked, asked_terms, asked_phrases, allowed, banned: see search/session
-- out  document_id   integer
-- out  collection    text
-- out  path          text
-- out  title         text
-- out  hash          text
-- out  bm25          double   0 and up
-- out  score         double   bm25 / (1 + bm25)
with found as (
    select
        asked_terms.clause,
        asked_terms.weight,
        postings.document_id,
        4.0::double * title_frequency + 1.5::double * path_frequency + body_frequency as frequency,
        length
    from postings
    join asked_terms on postings.term_id = asked_terms.term_id
    anti join tombstones on postings.document_id = tombstones.document_id
    union all
    select clause, weight, document_id, frequency, length
    from asked_phrases
),

matched as materialized (
    select
        clause,
        any_value(weight) as weight,
        document_id,
        sum(frequency) as frequency,
        any_value(length) as length
    from found
    group by clause, document_id
),

statistics as (
    select
        count(*)::double as documents,
        avg(title_length + path_length + body_length) as length
    from documents
),

clauses as (
    select
        clause,
        ln(
            1 + (any_value(statistics.documents) - count(*) + 0.5::double) / (count(*) + 0.5::double)
        ) as idf,
        any_value(statistics.length) as average_length
    from matched, statistics
    group by clause
),

scored as materialized (
    select
        document_id,
        round(sum(
            weight * idf * frequency * 2.5::double
            / (frequency + 1.5::double * (0.25::double + 0.75::double * length / average_length))
        ), 12) as bm25
    from matched
    join clauses on matched.clause = clauses.clause
    where
        (not (select filtered from asked) or document_id in (select document_id from allowed))
        and document_id not in (select document_id from banned)
    group by document_id
),

best as (
    select bm25 from scored order by bm25 desc limit (select wanted from asked)
)

select
    documents.document_id,
    collection,
    path,
    title,
    hash,
    bm25,
    bm25 / (1 + bm25) as score
from scored
join documents on scored.document_id = documents.document_id
where bm25 >= (select min(bm25) from best)
order by bm25 desc, collection, path
limit (select wanted from asked)
