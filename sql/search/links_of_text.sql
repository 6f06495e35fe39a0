-- The links of a text.
--
-- in   $hash    text    of the text
-- out  texts    text[]  of links, tags and headings
-- out  targets  text[]  of links, as written; of others nothing
select outline.texts as texts, outline.targets as targets
from content
where hash = $hash and outline is not null
