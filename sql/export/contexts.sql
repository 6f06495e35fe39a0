-- Texts that describe folders, as index.yml says.
--
-- out  collection  text?  null: all
-- out  prefix      text   folder inside the collection; empty: all of it
-- out  body        text
select collection, prefix, body
from contexts
where collection is null or collection in (select name from memory.chosen_collections)
