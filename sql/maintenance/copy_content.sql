-- Copy the short texts or the long ones, which are stored apart: see documents/add_content.
--
-- in   $long  boolean
insert into qmd_index.content
from old_index.content
where (strlen(body) > @inline) = $long
