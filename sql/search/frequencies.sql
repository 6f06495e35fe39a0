-- How many documents contain each term that is asked for; documents that are gone count too.
--
-- in   asked_terms  relation  see search/session
-- out  term_id      bigint
-- out  documents    bigint
select postings.term_id, count(*) as documents
from postings
where term_id in (select term_id from asked_terms)
group by postings.term_id
