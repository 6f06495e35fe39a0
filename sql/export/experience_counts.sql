-- Number of answers with a record; records without any are not here.
--
-- in   $chosen      boolean?   true: only those of the chosen documents
-- out  id           text       of `experiences`
-- out  query_count  ubigint
-- out  updated_at   timestamp  UTC
select id, query_count, updated_at
from experience_counts
-- if $chosen
where
    $chosen
    and id in (
        select id
        from experiences
        where document_id in (select document_id from memory.chosen)
    )
-- end
