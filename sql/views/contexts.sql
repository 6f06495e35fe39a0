-- Contexts: texts that describe folders.
--
-- out  collection  text?  null: it applies everywhere
-- out  prefix      text   folder inside the collection, '' for all of it
-- out  context     text
create view contexts as
select collection, prefix, body as context
from qmd_index.contexts
