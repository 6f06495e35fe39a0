-- Documents with their texts, in the order of their numbers, from one number on.
--
-- in   $after         integer  a document_id
-- in   $limit         integer  documents at most
-- out  document_id    integer
-- out  collection     text
-- out  path           text
-- out  title          text
-- out  hash           text
-- out  metadata       json?
-- out  title_length   integer
-- out  path_length    integer
-- out  body_length    integer
-- out  path_start     integer
-- out  body_start     integer
-- out  body           text
-- out  outline        struct?  as in `content`
select
    document_id,
    collection,
    path,
    title,
    documents.hash,
    metadata,
    title_length,
    path_length,
    body_length,
    path_start,
    body_start,
    body,
    outline
from (
    from documents
    where document_id > $after
    order by document_id
    limit $limit
) as documents
join content on documents.hash = content.hash
order by document_id
