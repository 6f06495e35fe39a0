-- Terms of all documents, with how common they are. A term is the stem of a word.
--
-- out  term         text
-- out  documents    bigint  that contain it
-- out  occurrences  bigint  in titles, paths and bodies
-- out  idf          double  what it weighs in keyword search: 0 and up, higher is rarer
-- out  term_id      bigint
create view terms as
with counted as (
    select
        term_id,
        count(*) as documents,
        sum(title_frequency + path_frequency + body_frequency)::bigint as occurrences
    from qmd_index.postings
    anti join qmd_index.tombstones on postings.document_id = tombstones.document_id
    group by term_id
),

known as (
    select term_id, any_value(term) as term
    from qmd_index.words
    group by term_id
)

select
    term,
    documents,
    occurrences,
    -- as in search/bm25
    ln(1 + (total - documents + 0.5::double) / (documents + 0.5::double)) as idf,
    counted.term_id
from counted
join known on counted.term_id = known.term_id
cross join (select count(*)::double as total from qmd_index.documents)
