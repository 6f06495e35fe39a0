-- Add rows of one index.
--
-- in   $name     text      catalog, schema and name of the table; put in as text
-- in   gathered  relation  with its columns
insert into $name by name
select *
from gathered
