-- Keyword search: BM25 over title, path and body, any word.
--
-- A term's frequency in a document is weighted by field, and so is the length of the document, which is
-- the sum of all its frequencies (BM25F: Robertson, Zaragoza, Taylor, CIKM 2004). The average length is
-- counted just before, by search/statistics, and the number of documents with a term by
-- search/frequencies: nothing is kept that could be out of date. Documents that are gone do not count.
--
-- What a term adds is rounded up to a whole number of units, so that the sum is exact: the order in
-- which terms are added, which differs between plans and between shards, does not decide a score.
--
-- in   $terms         json      array of term_id; of a phrase that has been counted: -1, -2 ...
-- in   $term_weights  json      array of double: the most that a term adds to a score
-- in   $counted       json?     array of bigint: postings of phrases, counted before: -1, -2 ...
-- in   $holders       json?     array of document_id
-- in   $frequencies   json?     array of double: weighted by field
-- in   $average       double    length of a document, weighted by field
-- in   $since         integer?  lowest document_id of postings that are not counted; null: all
-- in   $allowed       json?     array of document_id: no others
-- in   $least         double?   bm25 of a document
-- in   $limit         integer   documents
-- out  document_id    integer
-- out  bm25           double    0 and up
with worth as (
    select
        unnest(from_json($terms, '["BIGINT"]')) as term_id,
        unnest(from_json($term_weights, '["DOUBLE"]')) as weight
),

found as (
    select
        document_id,
        @title * title_frequency + @path * path_frequency + body_frequency as frequency,
        weight
    from postings
    join worth on postings.term_id = worth.term_id
    -- if $since
    where postings.document_id >= $since
    -- end
    -- if $counted
    union all
    select holder, frequency, weight
    from (
        select
            unnest(from_json($counted, '["BIGINT"]')) as term_id,
            unnest(from_json($holders, '["UINTEGER"]')) as holder,
            unnest(from_json($frequencies, '["DOUBLE"]')) as frequency
    ) as counted
    join worth on counted.term_id = worth.term_id
    -- end
)

select
    found.document_id,
    sum(ceil(
        @units * weight * frequency / (
            frequency
            + @k1 * (
                1 - @b + @b
                * (@title * title_length + @path * path_length + body_length) / $average
            )
        )
    )) / @units as bm25
from found
join documents on found.document_id = documents.document_id
-- if $allowed
where found.document_id in (select unnest(from_json($allowed, '["UINTEGER"]')))
-- end
group by found.document_id
-- if $least
having bm25 >= $least
-- end
order by bm25 desc, found.document_id
limit $limit
