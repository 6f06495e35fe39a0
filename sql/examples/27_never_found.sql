-- Which documents has no search found, though they are long?
select file, title, words
from never_found
join documents using (file, title)
order by words desc, file
limit 10
