-- Documents in which terms stand at given distances from one another: phrases.
--
-- A phrase of one term is that term. The weights of the fields are those of search/bm25.
--
-- in   $elements    json     array of {phrase, size, place, bits, term_id}, one for each term
--                            size: how many elements the phrase has
--                            place: of the term, from 0
--                            bits: of the term alone; those of all terms together are all 63. From
--                            the 63rd term on they are shared: a term that is missing there is not
--                            noticed if another one is indexed twice at its place
-- in   $since       integer? lowest document_id; null: all
-- out  phrase       integer
-- out  document_id  integer
-- out  frequency    double   occurrences, weighted by field
with elements as (
    select unnest(
        from_json(
            $elements,
            '[{
                "phrase": "INTEGER", "size": "INTEGER",
                "place": "INTEGER", "bits": "BIGINT", "term_id": "BIGINT"
            }]'
        ),
        recursive := true
    )
),

found as materialized (
    select phrase, size, place, bits, postings.document_id, positions
    from postings
    join elements on postings.term_id = elements.term_id
    anti join tombstones on postings.document_id = tombstones.document_id
    -- if $since
    where postings.document_id >= $since
    -- end
),

-- Only documents with all the terms, and so with all bits, can have the phrase; positions are
-- unpacked for them alone.
whole as (
    select phrase, document_id
    from found
    group by phrase, document_id
    having bit_or(bits) = 9223372036854775807
),

-- Where the phrase would begin if the term is part of it: in the lower half of the number.
starts as (
    select
        found.phrase,
        size,
        bits,
        (found.document_id::bigint << 32) + (unnest(positions)::bigint - place) as start
    from found
    semi join whole on found.phrase = whole.phrase and found.document_id = whole.document_id
),

occurrences as (
    select phrase, start >> 32 as document_id, start & 4294967295 as start
    from (
        select phrase, start
        from starts
        group by phrase, start
        having bit_or(bits) = 9223372036854775807 and count(*) >= any_value(size)
    )
)

select
    phrase,
    occurrences.document_id,
    sum(case
        when start < path_start then @title
        when start < body_start then @path
        else 1.0::double
    end) as frequency
from occurrences
join documents on occurrences.document_id = documents.document_id
group by phrase, occurrences.document_id
order by phrase, occurrences.document_id
