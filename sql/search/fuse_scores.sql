-- Scored lists fused into one by the weighted sum of their scores.
--
-- A keyword score becomes bm25 / (bm25 + 20), so that it is 0 to 1 and means the same in every
-- query; a cosine is taken as it is, but never below 0. A document that a list does not have gets
-- nothing from a keyword list, and from a list by meaning the lowest score there is in it, since
-- it cannot have more. The weights of all lists add up to 1.
--
-- A recent document gets up to 0.05 more, but never a score above 1; those that would have more
-- keep the order that they have without it.
--
-- Source: the saturation is that of Robertson's term frequency, applied to a score; the sum is
-- the convex combination of Bruch, Gai, Ingber, ACM TOIS 2023. Measured: docs/relevance.md.
--
-- in   $lists       json       array of {list, kind, weight, document_id, rank, score}
-- in   $half_life   double?    days after which the bonus of a recent document is half; null: none
-- in   $now         timestamp  UTC
-- in   $limit       integer    documents
-- out  document_id  integer
-- out  score        double     0 to 1, higher is better
-- out  bonus        double     of the score: 0 to 0.05
-- out  parts        json       array of {list, rank, weight, contribution}
with lists as materialized (
    select
        *,
        case kind when 'lex' then score / (score + 20) else greatest(score, 0.0::double) end
            as normal
    from (
        select unnest(
            from_json(
                $lists,
                '[{"list": "INTEGER", "kind": "VARCHAR", "weight": "DOUBLE",
                   "document_id": "UINTEGER", "rank": "INTEGER", "score": "DOUBLE"}]'
            ),
            recursive := true
        )
    )
),

least as materialized (
    select
        list,
        any_value(weight) as weight,
        case any_value(kind) when 'lex' then 0.0::double else min(normal) end as lowest
    from lists
    group by list
),

-- What every document has, and what one has above that.
added as (
    select
        document_id,
        (select sum(weight * lowest order by list) from least)
        + sum(least.weight * (normal - lowest) order by lists.list) as total
    from lists
    join least on lists.list = least.list
    group by document_id
),

best as materialized (
    select
        added.document_id,
        total,
        least(
            coalesce(
                0.05::double * pow(
                    0.5, greatest(epoch($now::timestamp - dated) / 86400, 0) / $half_life::double
                ),
                0
            ),
            greatest(1 - total, 0)
        ) as bonus
    from added
    left join documents on added.document_id = documents.document_id and $half_life is not null
    order by round(total + bonus, 12) desc, round(total, 12) desc, added.document_id
    limit $limit
)

select
    best.document_id,
    round(any_value(total) + any_value(bonus), 12) as score,
    any_value(bonus) as bonus,
    to_json(
        list(
            {
                'list': least.list,
                'rank': rank,
                'weight': least.weight,
                'contribution': least.weight * coalesce(normal, lowest)
            }
            order by least.list
        )
    ) as parts
from best
cross join least
left join lists on best.document_id = lists.document_id and least.list = lists.list
group by best.document_id
order by score desc, round(any_value(total), 12) desc, best.document_id
