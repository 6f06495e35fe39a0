-- Documents with a tag, in the text or in the frontmatter.
--
-- in   $tag         text     regular expression for all of a tag, in lower case and without #
-- out  document_id  integer
select document_id
from documents
where
    len(tags) > 0
    and list_bool_or(list_transform(tags, lambda one: regexp_full_match(lower(one), $tag)))
order by document_id
