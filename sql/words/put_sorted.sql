-- Append the words, sorted, so that those with the same beginning are adjacent, behind all that there are.
insert into words
select *
from words
order by word
