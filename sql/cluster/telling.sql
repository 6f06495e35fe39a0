-- Words that tell a document from most others, from the figures of all shards: see search/telling_words.
--
-- in   $terms  json     array of {word, frequency, documents}
-- in   $total  integer  documents
-- in   $limit  integer
-- out  word    text
select word
from (
    select unnest(
        from_json($terms, '[{"word": "VARCHAR", "frequency": "BIGINT", "documents": "BIGINT"}]'),
        recursive := true
    )
)
where documents > 1
order by round(frequency / (frequency + @k1) * ln(1 + $total / documents), 9) desc, word
limit $limit
