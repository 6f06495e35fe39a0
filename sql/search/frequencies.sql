-- How many documents contain each term.
--
-- in   $terms     json     array of term_id, distinct
-- in   $since     integer? lowest document_id; null: all
-- out  term_id    bigint
-- out  documents  bigint
select postings.term_id, count(*) as documents
from postings
join (select unnest(from_json($terms, '["BIGINT"]')) as term_id) as asked
    on postings.term_id = asked.term_id
anti join tombstones on postings.document_id = tombstones.document_id
-- if $since
where postings.document_id >= $since
-- end
group by postings.term_id
