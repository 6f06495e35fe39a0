-- Scored lists fused into one by the weighted sum of their scores.
--
-- A keyword score becomes bm25 / (bm25 + 20), so that it is 0 to 1 and means the same in every
-- query; a cosine is taken as it is, but never below 0. A document that a list does not have gets
-- nothing from a keyword list, and from a list by meaning the lowest score there is in it, since
-- it cannot have more: its floor. Lists by meaning know nothing of a document without a vector: from
-- them it gets what it gets from keyword lists, in the mean. The weights of all lists add up to 1.
--
-- A recent document gets up to 0.05 more, but never a score above 1; those that would have more
-- keep the order that they have without it. Those that have the same score, and as much of it for being
-- recent, are told apart by number alone.
--
-- Source: the saturation is that of Robertson's term frequency, applied to a score; the sum is
-- the convex combination of Bruch, Gai, Ingber, ACM TOIS 2023. Measured: docs/relevance.md.
--
-- in   $documents   json       array of document_id; this and the next six: of each entry of all lists
-- in   $lists       json       array of integer: number of the list
-- in   $ranks       json       array of integer
-- in   $weights     json       array of double: of the list
-- in   $scores      json       array of double
-- in   $lexical     json       array of boolean: whether it is a keyword list
-- in   $floors      json       array of double: of the list, 0 or more; of a keyword list 0
-- in   $least       double     what a document has that no list has: the weighted sum of all floors
-- in   $unknown     json?      array of document_id: those without a vector
-- in   $share       double     weight of all keyword lists together
-- in   $half_life   double?    days after which what a recent document gets is half; null: nothing
-- in   $now         timestamp  UTC
-- in   $limit       integer    documents
-- out  document_id  integer
-- out  score        double     0 to 1, higher is better
-- out  bonus        double     0: only ranks have one
-- out  recency      double     of the score: 0 to 0.05
-- out  parts        struct[]   {list, rank, weight, contribution}, of the lists that have it, in any order
with entries as (
    select
        *,
        case when lexical then score / (score + 20) else greatest(score, floor) end as normal
    from (
        select
            unnest(from_json($documents, '["UINTEGER"]')) as document_id,
            unnest(from_json($lists, '["UINTEGER"]')) as list,
            unnest(from_json($ranks, '["UINTEGER"]')) as rank,
            unnest(from_json($weights, '["DOUBLE"]')) as weight,
            unnest(from_json($scores, '["DOUBLE"]')) as score,
            unnest(from_json($lexical, '["BOOLEAN"]')) as lexical,
            unnest(from_json($floors, '["DOUBLE"]')) as floor
    )
),

added as (
    select
        document_id,
        -- if $unknown
        case
            when document_id in (select unnest(from_json($unknown, '["UINTEGER"]')))
                then sum(weight * normal) / $share::double
            else
        -- end
        $least + sum(weight * (normal - floor))
        -- if $unknown
        end
        -- end
        as total,
        list(
            {'list': list, 'rank': rank, 'weight': weight, 'contribution': weight * normal}
        ) as parts
    from entries
    group by document_id
),

best as (
    select
        added.document_id,
        round(total, 12) as total,
        0.0::double
        -- if $half_life
        + coalesce(
            round(
                least(
                    0.05::double * pow(
                        0.5,
                        greatest(epoch($now::timestamp - dated) / 86400, 0) / $half_life::double
                    ),
                    greatest(1 - total, 0)
                ),
                12
            ),
            0
        )
        -- end
        as recency,
        parts
    from added
    -- if $half_life
    left join documents on added.document_id = documents.document_id
    -- end
)

select document_id, round(total + recency, 12) as score, 0.0::double as bonus, recency, parts
from best
order by score desc, recency, document_id
limit $limit
