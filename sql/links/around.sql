-- Links to a document, and those that it has itself, each as it is written.
--
-- It runs in the sandbox, over the views.
--
-- in   $file     text     of `documents`
-- out  file      text     the document that has the link
-- out  line      integer  from 1
-- out  kind      text     inline, reference, wiki, autolink, image or embed
-- out  text      text     as it is written
-- out  target    text     as it is written
-- out  to_file   text?    the document that it leads to; null: to none
select file, line, kind, text, target, to_file
from links
where (file = $file or to_file = $file) and not external
order by file, line, target
