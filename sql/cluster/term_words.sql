-- Names of terms in one shard.
--
-- in   $terms       json     array of term_id, distinct
-- in   $without     json     array of words
-- out  term_id      bigint
-- out  word         text     the shortest; of those, the first
-- out  longest      bigint   characters of the longest
-- out  is_left_out  boolean  one of its words is among those in $without
select
    term_id,
    min_by(word, (length(word), word)) as word,
    max(length(word)) as longest,
    bool_or(list_contains(from_json($without, '["VARCHAR"]'), word)) as is_left_out
from words
where term_id in (select unnest(from_json($terms, '["BIGINT"]')))
group by term_id
order by term_id
