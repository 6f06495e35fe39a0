-- Documents in which terms stand at given distances from one another: phrases.
--
-- A phrase of one term is that term. The weights of the fields are those of search/bm25.
--
-- in   $elements    json     array of {phrase, place, term_id}: the term at a place, from 0
-- out  phrase       integer
-- out  document_id  integer
-- out  frequency    double   occurrences, weighted by field
-- out  length       integer  occurrences of all terms in the document
with elements as materialized (
    select unnest(
        from_json($elements, '[{"phrase": "INTEGER", "place": "INTEGER", "term_id": "BIGINT"}]'),
        recursive := true
    )
),

sizes as (
    select phrase, count(*) as size from elements group by phrase
),

found as materialized (
    select phrase, place, postings.document_id, length, positions
    from postings
    join elements on postings.term_id = elements.term_id
    anti join tombstones on postings.document_id = tombstones.document_id
),

-- Only documents with all the terms can have the phrase; positions are unpacked for them alone.
whole as (
    select found.phrase, document_id
    from found
    join sizes on found.phrase = sizes.phrase
    group by found.phrase, document_id, size
    having count(*) = size
),

starts as (
    select phrase, document_id, length, unnest(positions)::integer - place as start
    from found
    semi join whole on found.phrase = whole.phrase and found.document_id = whole.document_id
),

occurrences as (
    select starts.phrase, document_id, any_value(length) as length, start
    from starts
    join sizes on starts.phrase = sizes.phrase
    group by starts.phrase, document_id, start, size
    having count(*) = size
)

select
    phrase,
    occurrences.document_id,
    sum(case
        when start < path_start then 4.0::double
        when start < body_start then 1.5::double
        else 1.0::double
    end) as frequency,
    any_value(length) as length
from occurrences
join documents on occurrences.document_id = documents.document_id
group by phrase, occurrences.document_id
order by phrase, occurrences.document_id
