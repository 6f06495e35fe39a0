-- How many documents are there of each month?
select
    strftime(date, '%Y-%m') as month,
    count(*) as documents,
    bar(count(*), 0, max(count(*)) over (), 40) as chart
from documents
group by month
order by month desc
limit 24
