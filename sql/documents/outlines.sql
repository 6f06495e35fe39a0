-- Headings, links and tags of texts, as they are stored.
--
-- in   $hashes  json   array of content hashes, none twice
-- out  hash     text
-- out  kinds    text   a letter each: qmd/text/outline.py
-- out  lines    text   numbers from 1, a blank between two
-- out  texts    text   U+001E between two
select content.hash, outline.kinds as kinds, outline.lines as lines, array_to_string(outline.texts, chr(30)) as texts
from (select unnest(from_json($hashes, '["VARCHAR"]')) as hash) as asked
join content on asked.hash = content.hash
where outline.kinds <> ''
