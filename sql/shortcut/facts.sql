-- State of the vectors that the copy was made of.
--
-- out  fingerprint  text
-- out  last         integer  the highest chunk_id there was
-- out  vectors      integer
select fingerprint, last, vectors
from shortcut.facts
