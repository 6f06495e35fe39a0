-- All collections.
--
-- out  name               text
-- out  root               text
-- out  mask               text
-- out  ignored            text[]
-- out  update_command     text?
-- out  included           boolean
-- out  follow_symlinks    boolean
-- out  respect_gitignore  boolean
select name, root, mask, ignored, update_command, included, follow_symlinks, respect_gitignore
from collections
order by name
