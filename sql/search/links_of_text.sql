-- The links of a text.
--
-- in   $hash    text  of the text
-- out  texts    text  of links, tags and headings, U+001E between two
-- out  targets  text  of links, as written; of others nothing; U+001E between two
select outline.texts, outline.targets
from content
where hash = $hash and outline is not null
