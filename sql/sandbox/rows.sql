-- The result, with the columns of the query.
--
-- in   $limit  bigint?  rows to return; null: all
from memory.qmd.answer
limit $limit
