-- Numbers of the terms of known words. The terms, which take as long to read, are not asked for.
--
-- in   $words    json      array of folded words
-- out  word      text
-- out  term_id   bigint
select word, term_id
from words
where word in (select unnest(from_json($words, '["VARCHAR"]')))
