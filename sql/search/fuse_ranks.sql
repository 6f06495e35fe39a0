-- Ranked lists fused into one by reciprocal ranks (RRF), with a bonus for the top of a list.
--
-- A document gets weight / (k + rank) from each list that has it, 0.05 more if it is first in one
-- of them, and 0.02 if it is second or third at best. What a recent one gets is given. Of those with the
-- same score, the first is that of the first list, with the best rank in any; others are told
-- apart by number alone. Scores are rounded, so that the order of a sum does not decide that.
--
-- Sources: Cormack, Clarke, Büttcher, SIGIR 2009 (k = 60); the bonus: tobi/qmd (MIT), src/store.ts,
-- reciprocalRankFusion.
--
-- in   $documents   json       array of document_id; this and the next four: of each entry of all lists
-- in   $lists       json       array of integer: number of the list
-- in   $ranks       json       array of integer, from 1
-- in   $weights     json       array of double: of the list
-- in   $recency     json       array of double: what the document gets for its age, see search/recency
-- in   $k           integer    the larger, the less the first ranks count; 60 in the source
-- in   $limit       integer    documents
-- out  document_id  integer
-- out  score        double     higher is better
-- out  bonus        double     of the score, for the best rank: 0, 0.02 or 0.05
-- out  recency      double     of the score: 0 to 0.05
-- out  parts        struct[]   {list, rank, weight, contribution}, of the lists that have it, in any order
with entries as (
    select
        unnest(from_json($documents, '["UINTEGER"]')) as document_id,
        unnest(from_json($lists, '["UINTEGER"]')) as list,
        unnest(from_json($ranks, '["UINTEGER"]')) as rank,
        unnest(from_json($weights, '["DOUBLE"]')) as weight,
        unnest(from_json($recency, '["DOUBLE"]')) as recency
),

added as (
    select
        document_id,
        sum(weight / ($k + rank) order by list) as total,
        case
            when min(rank) = 1 then 0.05::double
            when min(rank) <= 3 then 0.02::double
            else 0.0::double
        end as bonus,
        max(recency) as recency,
        min(rank) as best,
        min(list) as first_list,
        list(
            {'list': list, 'rank': rank, 'weight': weight, 'contribution': weight / ($k + rank)}
        ) as parts
    from entries
    group by document_id
)

select document_id, round(total + bonus + recency, 12) as score, bonus, recency, parts
from added
order by score desc, first_list, best, document_id
limit $limit
