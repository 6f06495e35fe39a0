-- Add rows of one index.
--
-- in   $name     text      of the table; put in as text
-- in   gathered  relation  with its columns
insert into memory.main.$name by name
select *
from gathered
