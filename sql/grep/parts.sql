-- Parts of lines that a regular expression matches.
--
-- in   $pattern  text    in RE2 syntax
-- in   $lines    json    array of text
-- out  parts     text[]  of a line, in order
select regexp_extract_all(line, $pattern) as parts
from (select unnest(from_json($lines, '["VARCHAR"]')) as line)
