-- Terms of known words.
--
-- in   $words    json      array of folded words
-- out  word      text
-- out  term_id   bigint
-- out  term      text
select word, term_id, term
from words
where word in (select unnest(from_json($words, '["VARCHAR"]')))
