-- Move the chunks of a draft to its model, under new numbers.
--
-- in   $model_id  integer
-- in   $draft_id  integer  model_id of the draft
-- in   $first     integer  the lowest chunk_id of the draft
update chunks
set
    model_id = $model_id,
    chunk_id = chunk_id - $first + (select value from counters where name = 'next_chunk_id')
where model_id = $draft_id
