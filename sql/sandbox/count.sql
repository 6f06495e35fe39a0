-- Rows of the answer.
--
-- out  count  bigint
select count(*) as count
from memory.qmd.answer
