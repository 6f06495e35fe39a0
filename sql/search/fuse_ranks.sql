-- Ranked lists fused into one by reciprocal ranks (RRF), with a bonus for the top of a list.
--
-- A document gets weight / (60 + rank) from each list that has it, 0.05 more if it is first in one
-- of them, and 0.02 if it is second or third at best.
--
-- Sources: Cormack, Clarke, Büttcher, SIGIR 2009 (k = 60); the bonus: tobi/qmd (MIT), src/store.ts,
-- reciprocalRankFusion.
--
-- in   $lists       json       array of {list, weight, document_id, rank}; rank from 1
-- in   $half_life   double?    days after which the bonus of a recent document is half; null: none
-- in   $now         timestamp  UTC
-- in   $limit       integer    documents
-- out  document_id  integer
-- out  score        double   higher is better
-- out  bonus        double   of the score
-- out  parts        json     array of {list, rank, weight, contribution}
with lists as (
    select unnest(
        from_json(
            $lists,
            '[{"list": "INTEGER", "weight": "DOUBLE", "document_id": "UINTEGER",
               "rank": "INTEGER"}]'
        ),
        recursive := true
    )
),

added as (
    select
        document_id,
        sum(weight / (60 + rank) order by list) as total,
        case
            when min(rank) = 1 then 0.05::double
            when min(rank) <= 3 then 0.02::double
            else 0.0::double
        end as bonus,
        min(rank) as best,
        min(list) as first_list,
        to_json(
            list(
                {
                    'list': list,
                    'rank': rank,
                    'weight': weight,
                    'contribution': weight / (60 + rank)
                }
                order by list
            )
        ) as parts
    from lists
    group by document_id
)

select
    added.document_id,
    total + bonus + recent as score,
    bonus + recent as bonus,
    parts
from (
    select
        added.*,
        coalesce(
            0.05::double
            * pow(0.5, greatest(epoch($now::timestamp - dated) / 86400, 0) / $half_life::double),
            0
        ) as recent
    from added
    left join documents on added.document_id = documents.document_id
) as added
order by score desc, first_list, best, document_id
limit $limit
