-- When was a subject written about?
select strftime(date, '%Y-%m') as month, count(*) as documents, max_by(file, score) as best
from bm25('firmware', n := 1000)
join documents using (file)
group by month
order by month
