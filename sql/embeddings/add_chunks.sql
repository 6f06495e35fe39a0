-- Add chunks of texts that have none yet.
--
-- in   $model_id  integer
-- in   cut        relation  number, hash, seq, position, length, line, tokens
-- out  hash       text
-- out  seq        integer
-- out  chunk_id   integer
insert into chunks
select
    (select value from counters where name = 'next_chunk_id') + number,
    $model_id,
    hash,
    seq,
    position,
    length,
    line,
    tokens
from cut
where hash not in (select hash from chunks where model_id = $model_id)
order by number
returning hash, seq, chunk_id
