-- Texts with title and path of one document, for the prompt of a model.
--
-- in   $hashes  json   array of hash
-- out  hash     text
-- out  body     text   empty: it is a long one, in pieces
-- out  title    text
-- out  name     text   collection/path
-- out  matter   integer  characters of its front matter
-- out  labels   text   other names and tags, with commas between; empty without any
with asked as (
    select unnest(from_json($hashes, '["VARCHAR"]')) as hash
)

select
    content.hash,
    any_value(body) as body,
    arg_min(title, collection || '/' || path) as title,
    min(collection || '/' || path) as name,
    coalesce(arg_min(matter, collection || '/' || path), 0) as matter,
    coalesce(
        array_to_string(arg_min(list_concat(aliases, tags), collection || '/' || path), ', '), ''
    ) as labels
from content
join asked on content.hash = asked.hash
join documents on content.hash = documents.hash
group by content.hash
order by content.hash
