-- The links of a text.
--
-- in   $hash    text  of the text
-- out  texts    text  of links, tags and headings, U+001E between two
-- out  targets  text  of links, as written; of others nothing; U+001E between two
select
    array_to_string(outline.texts, chr(30)) as texts,
    array_to_string(outline.targets, chr(30)) as targets
from content
where hash = $hash and outline is not null
