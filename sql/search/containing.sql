-- Documents that contain texts as they stand, for a query that has no words: `->`, `!=`.
--
-- in   $texts       json     array of text, distinct, none empty
-- out  number       integer  of the text, from 0
-- out  document_id  integer
-- out  frequency    double   occurrences, weighted by field as in search/bm25
with asked as (
    select unnest(range(len(texts)))::integer as number, unnest(texts) as wanted
    from (select from_json($texts, '["VARCHAR"]') as texts) as given
),

bodies as (
    select hash, body
    from content
    union all
    select hash, string_agg(text, '' order by number) as body
    from text_pieces
    group by hash
),

found as (
    select
        number,
        document_id,
        @title * (length(title) - length(replace(title, wanted, '')))
        + @path * case
            when collection = 'experiences' then 0
            else length(path) - length(replace(path, wanted, ''))
        end
        + length(body) - length(replace(body, wanted, '')) as characters,
        length(wanted) as size
    from documents
    join bodies on documents.hash = bodies.hash and body <> ''
    join asked on contains(body, wanted) or contains(title, wanted) or contains(path, wanted)
)

select number, document_id, characters / size as frequency
from found
where characters > 0
order by number, document_id
