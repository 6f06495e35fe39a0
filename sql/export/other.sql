-- All rows of a table that is exported unchanged.
--
-- in   $table  name  put in as text, since a table is no parameter
select *
from $table
