-- Words that tell a document from most others: frequent in it, and in few others, but in some.
--
-- in   $document_id  integer
-- in   $without      json     array of words
-- in   $limit        integer
-- out  word          text
with own as (
    select term_id, @title * title_frequency + body_frequency as frequency
    from postings
    where document_id = $document_id and title_frequency + body_frequency > 0
),

counted as (
    select term_id, count(*) as documents
    from postings
    where
        term_id in (select term_id from own)
        and document_id not in (select document_id from tombstones)
    group by term_id
),

named as (
    select term_id, min_by(word, (length(word), word)) as word
    from words
    where term_id in (select term_id from own)
    group by term_id
    having
        not bool_or(list_contains(from_json($without, '["VARCHAR"]'), word))
        and max(length(word)) > 1
        and not regexp_matches(min_by(word, (length(word), word)), '^[0-9_]')
)

select word
from own
join counted using (term_id)
join named using (term_id)
where documents > 1
-- the saturation of BM25, without lengths
order by
    round(
        frequency / (frequency + @k1)
        * ln(1 + (select count(*) from documents) / documents),
        9
    ) desc,
    word
limit $limit
