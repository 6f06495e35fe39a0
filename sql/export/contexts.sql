-- Texts that describe folders, as index.yml says.
--
-- in   $chosen     boolean?  true: only those of the chosen documents
-- out  collection  text?     null: all
-- out  prefix      text      folder inside the collection; empty: all of it
-- out  body        text
select collection, prefix, body
from contexts
-- if $chosen
where
    $chosen
    and (collection is null or collection in (select collection from memory.chosen))
-- end
