-- Counters of the index.
--
-- out  name   text
-- out  value  ubigint
select name, value
from counters
