-- Paths of documents and contexts that do not lie below the folder of their collection.
--
-- in   $outside       text     regular expression of such paths
-- in   $longest_name  integer  bytes of a segment
-- in   $longest_path  integer  bytes
-- in   $limit         integer  rows
-- out  kind           text     document, context
-- out  collection     text?
-- out  path           text
with stored as (
    select 'document' as kind, collection, path from documents
    union all
    select 'context', collection, prefix from contexts where prefix <> ''
)

select kind, collection, path
from stored
where
    regexp_matches(path, $outside)
    or strlen(path) > $longest_path
    or (
        strlen(path) > $longest_name
        and list_max(list_transform(string_split(path, '/'), lambda name: strlen(name)))
        > $longest_name
    )
order by kind, collection, path
limit $limit
