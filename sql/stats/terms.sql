-- The most frequent terms of titles and bodies, each by the shortest of its words.
--
-- What says nothing of a text is left out: words that are named, numbers, single characters.
--
-- in   $collections  json?   array of names
-- in   $without      json    array of words
-- in   $limit        integer
-- out  term          text
-- out  documents     bigint  with the term
-- out  occurrences   bigint
with telling as (
    select term_id, min_by(word, (length(word), word)) as word
    from words
    group by term_id
    having
        not bool_or(list_contains(from_json($without, '["VARCHAR"]'), word))
        and min(length(word)) > 1
        and not regexp_matches(min_by(word, (length(word), word)), '^[0-9_]')
),

counted as (
    select
        term_id,
        count(*) as documents,
        sum(title_frequency + body_frequency)::bigint as occurrences
    from postings
    where
        title_frequency + body_frequency > 0
        -- postings of documents that are gone; documents with postings are gone or in the table
        and document_id not in (select document_id from tombstones)
        -- if $collections
        and document_id in (
            select document_id
            from documents
            where list_contains(from_json($collections, '["VARCHAR"]'), collection)
        )
        -- end
    group by term_id
)

select word as term, documents, occurrences
from counted
join telling on counted.term_id = telling.term_id
order by occurrences desc, term
limit $limit
