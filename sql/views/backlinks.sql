-- Links the other way round: which documents link to one, and where.
--
-- needs  links
-- out  file       text      of `documents`: what is linked to
-- out  from_file  text      of `documents`: what links to it; never the same
-- out  line       uinteger  of the link, from 1
-- out  text       text      as it is written
-- out  anchor     text?     what follows #
create view backlinks as
select to_file as file, file as from_file, line, text, anchor
from links
where to_file <> file
