-- Which long documents have no links to them?
select file, title, words
from orphans
join documents using (file, title)
order by words desc, file
limit 10
