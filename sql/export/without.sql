-- Rows without a column for which another one stands.
--
-- in   $rows    statement  put in as text
-- in   $column  name       put in as text
select * exclude ($column)
from ($rows)
