-- Texts whose groups may have changed since they were made: of new documents, of documents that
-- are gone, and of groups that all documents but one have left.
--
-- out  hash   text
-- out  state  text  gone: no document has it; new: it was not compared; old: its documents changed
with recent as (
    select distinct hash
    from documents
    where document_id >= coalesce((select value from counters where name = 'grouped_documents'), 0)
),

left_ones as (
    select leader as hash
    from copies
    left join documents using (hash)
    group by leader
    having count(document_id) < 2
),

gone as (
    select hash
    from sketches
    anti join documents using (hash)
),

fresh as (
    select hash
    from sketches
    where not settled
),

found as (
    select hash, 'gone' as state from gone
    union all
    select hash, 'new' from fresh
    union all
    select hash, 'old' from recent
    union all
    select hash, 'old' from left_ones
)

select hash, min(state) as state
from found
group by hash
order by hash
