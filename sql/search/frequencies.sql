-- How many documents contain each term.
--
-- in   $terms     json     array of term_id, distinct
-- out  term_id    bigint
-- out  documents  bigint
select postings.term_id, count(*) as documents
from postings
join (select unnest(from_json($terms, '["BIGINT"]')) as term_id) as asked
    on postings.term_id = asked.term_id
anti join tombstones on postings.document_id = tombstones.document_id
group by postings.term_id
