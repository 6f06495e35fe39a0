-- The copied vectors nearest to a query, by the HNSW graph.
--
-- The index is used only where the width and the limit are known when the statement is planned.
--
-- in   $dimensions  integer  put in as text
-- in   $limit       integer  put in as text
-- in   $vector      text     of the query, of length 1: '[0.1, …]'
-- out  chunk_id     integer
select chunk_id
from shortcut.copied
order by array_negative_inner_product(vector, $vector::float[$dimensions])
limit $limit
