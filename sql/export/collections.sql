-- Folders whose files are indexed, as index.yml says.
--
-- in   $chosen            boolean?  true: only those of the chosen documents
-- out  name               text
-- out  root               text      absolute path of the folder, on the machine of the export
-- out  mask               text      glob of the files that belong to it
-- out  ignored            text[]    globs of files that do not
-- out  update_command     text?     run before it is indexed
-- out  included           boolean   whether searches look into it that name no collection
-- out  follow_symlinks    boolean
-- out  respect_gitignore  boolean
select name, root, mask, ignored, update_command, included, follow_symlinks, respect_gitignore
from collections
-- if $chosen
where $chosen and name in (select collection from memory.chosen)
-- end
