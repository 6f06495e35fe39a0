-- Fused documents with the judgement of a reranker, best first.
--
-- The place that fusion gave counts the more the higher it is: w / rank + (1 - w) * rerank, with
-- w = 0.75 for places 1 to 3, 0.60 for 4 to 10 and 0.40 from 11 on. A document that was not judged
-- counts as one that was judged 0: it comes after those that were, in its order.
--
-- Source: tobi/qmd (MIT), src/store.ts, hybridQuery.
--
-- in   $fused       json     array of {document_id, rank, rerank}; rank from 1, rerank 0 to 1 or null
-- out  document_id  integer
-- out  score        double   0 to 1, higher is better
-- out  weight       double   w
with fused as (
    select
        *,
        case when rank <= 3 then 0.75::double when rank <= 10 then 0.6::double else 0.4::double end
            as weight
    from (
        select unnest(
            from_json(
                $fused, '[{"document_id": "UINTEGER", "rank": "INTEGER", "rerank": "DOUBLE"}]'
            ),
            recursive := true
        )
    )
)

select document_id, weight / rank + (1 - weight) * coalesce(rerank, 0) as score, weight
from fused
order by score desc, rank
