-- On which days of the week are files written?
select dayname(modified) as day, count(*) as documents
from documents
group by day, isodow(modified)
order by isodow(modified)
