-- Rows without a column that another one replaces.
--
-- in   $rows    statement  put in as text
-- in   $column  name       put in as text
select * exclude ($column)
from ($rows)
