-- Number of rows of the result.
--
-- out  count  bigint
select count(*) as count
from memory.qmd.answer
