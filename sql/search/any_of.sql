-- Documents with any of some terms that count as one.
--
-- in   $terms       json     array of {clause, term_id}
-- in   $since       integer? lowest document_id; null: all
-- out  clause       integer
-- out  document_id  integer
-- out  frequency    double   occurrences of all of them, weighted by field as in search/bm25
select
    clause,
    postings.document_id,
    sum(@title * title_frequency + @path * path_frequency + body_frequency) as frequency
from postings
join (
    select unnest(
        from_json($terms, '[{"clause": "INTEGER", "term_id": "BIGINT"}]'), recursive := true
    )
) as asked on postings.term_id = asked.term_id
anti join tombstones on postings.document_id = tombstones.document_id
-- if $since
where postings.document_id >= $since
-- end
group by clause, postings.document_id
order by clause, postings.document_id
