-- Which links lead nowhere?
select file, line, target, missing
from broken_links
order by file, line
limit 20
