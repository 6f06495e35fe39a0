-- Documents with their bodies, in the order in which they are asked for.
--
-- in   $ids         json     array of document_id, distinct
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  body         text
with asked as (
    select ids.value as document_id, ids.place
    from (
        select unnest(from_json($ids, '["UINTEGER"]')) as value,
            generate_subscripts(from_json($ids, '["UINTEGER"]'), 1) as place
    ) as ids
)

select documents.document_id, collection, path, title, documents.hash, body
from asked
join documents on asked.document_id = documents.document_id
join content on documents.hash = content.hash
order by place
