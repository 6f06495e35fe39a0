-- Texts whose groups may have changed since they were made: of new documents, and those that
-- documents have left. A text that only some have left may have another name than before.
--
-- in   $since     bigint  see documents/ungrouped_since
-- in   $limit     integer
-- out  hash       text
-- out  state      text    gone: no document has it; new: it was not compared; old: its documents changed
-- out  place      bigint? of its signature; null: it has none yet
-- out  documents  bigint  that have it
with recent as (
    select hash
    from documents
    where document_id >= $since
),

fresh as (
    select hash
    from sketches
    where not settled
),

reasons as (
    select hash, 'old' as state from left_texts
    union all
    select hash, 'new' from fresh
    union all
    select hash, 'old' from recent
),

found as materialized (  -- else each is looked for among all documents once for each reason
    select hash, min(state) as state
    from reasons
    group by hash
),

counted as materialized (
    select found.hash, state, count(document_id) as documents
    from found
    left join documents using (hash)
    group by all
)

select hash, case when documents = 0 then 'gone' else state end as state, sketches.rowid as place, documents
from counted
left join sketches using (hash)
where documents > 0 or sketches.rowid is not null
order by hash
limit $limit
