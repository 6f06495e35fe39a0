-- Search by meaning: the chunks whose vectors point most nearly where the query's does.
--
-- All vectors of the model are compared.
--
-- in   $model_id  integer
-- in   $chunks    json?     array of chunk_id: no others
-- in   $vector    text      of the query, of length 1: '[0.1, …]'
-- in   $depth     integer   chunks to find
-- out  chunk_id   integer
-- out  score      double    cosine, -1 to 1, higher is better
select chunk_id, round(list_inner_product(vector, $vector::float[])::double, 6) as score
from embeddings
where
    model_id = $model_id
    -- if $chunks
    and chunk_id in (select unnest(from_json($chunks, '["UINTEGER"]')))
    -- end
order by score desc, chunk_id
limit $depth
