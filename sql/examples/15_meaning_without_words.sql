-- What does a search by meaning find that has none of the words?
select round(score, 2) as score, file, line, title
from vsearch('why do people leave the firm', n := 20) as near
anti join bm25('people leave firm', n := 1000) as words using (file)
order by rank
