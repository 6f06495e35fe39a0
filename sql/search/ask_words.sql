-- The words that are asked for.
--
-- in   $rows  json  array of folded words
insert into asked_words
select word, word[:3] from (select unnest(from_json($rows, '["VARCHAR"]')) as word)
