-- Which terms set a document apart from all others?
select term, body_frequency as times, documents, round(body_frequency * idf, 1) as weight
from postings
join terms using (term, term_id)
where
    file = (select file from documents order by words desc, file limit 1)
    and length(term) > 2
order by weight desc, term
limit 15
