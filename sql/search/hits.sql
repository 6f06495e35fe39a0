-- Scored documents, best first, with their bodies.
--
-- in   $scores      json     array of {document_id, bm25}
-- in   $limit       integer  rows to return
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  body         text
-- out  bm25         double   0 and up
-- out  score        double   bm25 / (1 + bm25)
with scores as (
    select unnest(
        from_json($scores, '[{"document_id": "UINTEGER", "bm25": "DOUBLE"}]'), recursive := true
    )
),

best as materialized (
    select documents.document_id, collection, path, title, hash, bm25
    from scores
    join documents on scores.document_id = documents.document_id
    order by bm25 desc, collection, path
    limit $limit
)

select
    document_id,
    collection,
    path,
    title,
    best.hash,
    body,
    bm25,
    bm25 / (1 + bm25) as score
from best
join content on best.hash = content.hash
order by bm25 desc, collection, path
