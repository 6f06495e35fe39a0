-- Terms in titles and bodies of one shard, the most frequent first: see stats/terms.
--
-- in   $collections  json?    array of names
-- in   $terms        json?    array of term_id; null: all
-- in   $least        integer  occurrences
-- in   $limit        integer  terms
-- out  term_id       bigint
-- out  documents     bigint
-- out  occurrences   bigint
select
    term_id,
    count(*) as documents,
    sum(title_frequency + body_frequency)::bigint as occurrences
from postings
where
    title_frequency + body_frequency > 0
    -- if $terms
    and term_id in (select unnest(from_json($terms, '["BIGINT"]')))
    -- end
    and document_id not in (select document_id from tombstones)
    -- if $collections
    and document_id in (
        select document_id
        from documents
        where list_contains(from_json($collections, '["VARCHAR"]'), collection)
    )
    -- end
group by term_id
having occurrences >= $least
order by occurrences desc, term_id
limit $limit
