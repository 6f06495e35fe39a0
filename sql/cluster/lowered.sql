-- Titles in lower case, as documents/names_of_texts compares them.
--
-- in   $titles  json  array
-- out  title    text
select lower(title) as title
from (select unnest(from_json($titles, '["VARCHAR"]')) as title)
