-- State of which the resolved links are.
--
-- out  state  text
select state
from qmd_links.stamp
