-- Texts that have near-duplicates.
--
-- out  hash    text
-- out  leader  text  hash of the text that leads the group
select hash, leader
from copies
