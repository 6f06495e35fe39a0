-- What did I look for in vain?
select query, times, last
from zero_result_searches
order by times desc, last desc
limit 20
