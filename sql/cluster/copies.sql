-- Texts that are nearly the same as others.
--
-- out  hash        text
-- out  leader      text
-- out  similarity  float
select hash, leader, similarity
from copies
order by hash
