-- Terms that distinguish groups of documents: many of a group have them, and few others.
--
-- A term scores its share of the group times its idf among all groups; a fifth of the group has to
-- have it. Left out is what stats/terms leaves out.
--
-- in   $without    json      array of words
-- in   $limit      integer   terms of each group
-- in   grouped     relation  document_id integer, number integer
-- out  number      integer   of the group
-- out  term        text
with telling as (
    select term_id, min_by(word, (length(word), word)) as word
    from words
    group by term_id
    having
        not bool_or(list_contains(from_json($without, '["VARCHAR"]'), word))
        and min(length(word)) > 1
        and not regexp_matches(min_by(word, (length(word), word)), '^[0-9_]')
),

sized as (
    select number, count(*) as size from grouped group by number
),

found as (
    select number, term_id, count(*) as documents
    from postings
    join grouped on postings.document_id = grouped.document_id
    where title_frequency + body_frequency > 0
    group by number, term_id
),

scored as (
    select
        number,
        term_id,
        documents / size
        * ln((select count(*) from grouped) / sum(documents) over (partition by term_id)) as score,
        documents / size as share
    from found
    join sized using (number)
)

select number, word as term
from scored
join telling on scored.term_id = telling.term_id
where share >= 0.2 and score > 0
qualify row_number() over (partition by number order by round(score, 9) desc, word) <= $limit
order by number, round(score, 9) desc, word
