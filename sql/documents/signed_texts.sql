-- Number of texts with a signature, or too short for one.
--
-- out  texts  bigint
select count(*) as texts
from sketches
