-- Copy some vectors.
--
-- in   fresh  relation  chunk_id, vector
insert into shortcut.copied
select chunk_id, vector
from fresh
