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
-- out  converted          text[]
select
    name,
    root,
    mask,
    ignored,
    update_command,
    included,
    follow_symlinks,
    respect_gitignore,
    coalesce(converted, []) as converted
from collections
order by name
