-- A page of the records that match a query, best first, and their total.
--
-- By words, a record's relevance is the share of the query's idf whose terms it has: 1 if it has all.
-- The idf is that of search/bm25, counted over the records alone, since what is common in notes may
-- tell one record from another; a term that no record has weighs most. Where a record has vectors,
-- its relevance is the mean of that share and of the cosine of its nearest passage, 0 at least.
--
-- 0.6, 0.3 and 0.1 are the shares of relevance, use and age in the order; 1,000 answers are as much
-- use as counts, 90 days as much age; 0.3 is the cosine from which on a record without a word of the
-- query answers. Source: the contract for experience records.
--
-- in   $terms                json       array of term_id, distinct
-- in   $model_id             integer?   of the vectors to compare; null: none
-- in   $vector               text?      of the query, of length 1: '[0.1, …]'
-- in   $uncounted            json       array of {id, count} of answers not counted yet
-- in   $now                  timestamp  UTC
-- in   $limit                integer    records on a page
-- in   $offset               bigint     records before it
-- out  total                 bigint     the same in every row
-- out  id                    text?      null: no record is on this page
-- out  title                 text?
-- out  problem_description   text?
-- out  root_cause            text?
-- out  solution              text?
-- out  context               text?
-- out  keywords              text[]?
-- out  created_at            timestamp?
-- out  query_count           bigint?    answers before this one
-- out  relevance             double?    0 to 1
with asked as (
    select unnest(from_json($terms, '["BIGINT"]')) as term_id
),

found as materialized (
    select postings.term_id, postings.document_id
    from postings
    join asked on postings.term_id = asked.term_id
    semi join experiences on postings.document_id = experiences.document_id
),

weights as materialized (
    select
        asked.term_id,
        -- whole numbers, whose sums are exact in any order
        ceil(
            @units
            * ln(1 + (total - count(document_id) + 0.5::double) / (count(document_id) + 0.5::double))
        ) as idf
    from asked
    left join found on asked.term_id = found.term_id
    cross join (select count(*)::double as total from experiences)
    group by asked.term_id, total
),

by_words as (
    select document_id, sum(idf) / (select sum(idf) from weights) as share
    from found
    join weights on found.term_id = weights.term_id
    group by document_id
),

-- Compared before anything is joined, which would carry the vectors along.
near as (
    select chunk_id, list_inner_product(vector, $vector::float[])::double as cosine
    from embeddings
    where
        model_id = $model_id
        and chunk_id in (
            select chunk_id
            from chunks
            where
                model_id = $model_id
                and hash in (select hash from documents where collection = 'experiences')
        )
),

by_meaning as (
    select document_id, max(cosine) as cosine
    from near
    join chunks on near.chunk_id = chunks.chunk_id
    join documents on chunks.hash = documents.hash
    where collection = 'experiences'
    group by document_id
),

uncounted as (
    select unnest(from_json($uncounted, '[{"id": "VARCHAR", "count": "BIGINT"}]'), recursive := true)
),

matched as materialized (
    select
        experiences.id,
        experiences.document_id,
        created_at,
        coalesce(query_count, 0)::bigint + coalesce(uncounted.count, 0) as query_count,
        round(
            case
                when cosine is null then share
                else (coalesce(share, 0) + least(greatest(cosine, 0), 1)) / 2
            end,
            12
        ) as relevance
    from experiences
    left join by_words on experiences.document_id = by_words.document_id
    left join by_meaning on experiences.document_id = by_meaning.document_id
    left join experience_counts on experiences.id = experience_counts.id
    left join uncounted on experiences.id = uncounted.id
    where share > 0 or cosine >= 0.3
),

scored as (
    select
        *,
        0.6::double * relevance
        + 0.3::double * least(log10(query_count + 1) / 3, 1)
        + 0.1::double * least(
            greatest(1 - (epoch_us($now::timestamp) - epoch_us(created_at)) / (90 * 86400e6), 0), 1
        ) as score
    from matched
),

page as materialized (
    select *, row_number() over (order by score desc, relevance desc, created_at desc, id) as place
    from scored
    order by place
    limit $limit offset $offset
)

select
    total,
    page.id,
    experiences.title,
    substring(body, problem_description.start + 1, problem_description.length)
        as problem_description,
    substring(body, root_cause.start + 1, root_cause.length) as root_cause,
    substring(body, solution.start + 1, solution.length) as solution,
    substring(body, context.start + 1, context.length) as context,
    keywords,
    page.created_at,
    query_count,
    relevance
from (select count(*) as total from matched)
left join page on true
left join experiences on page.document_id = experiences.document_id
left join documents on page.document_id = documents.document_id
left join content on documents.hash = content.hash
order by place
