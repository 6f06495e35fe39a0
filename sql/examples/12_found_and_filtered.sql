-- What was written about a subject within a year, best first?
select round(score, 2) as score, file, found.title, date, snippet
from bm25('battery voltage', n := 50) as found
join documents using (file, docid, collection, path)
where date >= (select max(date) from documents) - interval 1 year
order by rank
limit 10
