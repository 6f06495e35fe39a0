-- All rows of a table that is exported as it is.
--
-- in   $table  name  put in as text, since a table is no parameter
select *
from $table
