-- Search by meaning: the chunks whose vectors point most nearly where the query's does.
--
-- All vectors of the model are compared. The best chunks are found first and their documents
-- after: if these are fewer than were asked for, and chunks are left, ask again with more depth.
--
-- in   $model_id     integer
-- in   $chunks       json?     array of chunk_id: no others
-- in   $vector       text      of the query, of length 1: '[0.1, …]'
-- in   $depth        integer   chunks to find
-- in   $per_file     integer   chunks of one document, at most
-- in   $limit        integer   rows to return
-- out  document_id  integer
-- out  score        double    cosine, -1 to 1, higher is better
-- out  position     integer   of the chunk: characters before it
-- out  length       integer   characters
-- out  line         integer   first line, from 1
with nearest as materialized (
    select chunk_id, list_inner_product(vector, $vector::float[]) as score
    from embeddings
    where
        model_id = $model_id
        and (
            $chunks is null
            or chunk_id in (select unnest(from_json($chunks, '["UINTEGER"]')))
        )
    order by score desc, chunk_id
    limit $depth
)

select document_id, round(score::double, 6) as score, position, length, line
from nearest
join chunks on nearest.chunk_id = chunks.chunk_id
join documents on chunks.hash = documents.hash
qualify row_number() over (partition by document_id order by nearest.score desc, seq) <= $per_file
order by round(score::double, 6) desc, collection, path, seq
limit $limit
