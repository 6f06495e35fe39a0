-- How long do searches take?
select
    verb,
    count(*) as searches,
    round(median(milliseconds), 1) as median,
    round(max(milliseconds), 1) as slowest
from searches
group by verb
order by verb
