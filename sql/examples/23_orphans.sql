-- Which documents does nobody link to, though they say a lot?
select file, title, words
from orphans
join documents using (file, title)
order by words desc, file
limit 10
