-- Copy the rows of a table.
--
-- in   $table  name  put in as text
insert into qmd_index.$table
from old_index.$table
