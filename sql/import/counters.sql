-- Set the counters after the added and the previous rows; all postings are sorted.
--
-- in   $files      json     array of paths of counters
-- in   $documents  integer  was added to each document_id
-- in   $chunks     integer  was added to each chunk_id
update counters
set value = case counters.name
    when 'next_document_id' then was.value + $documents
    when 'next_chunk_id' then was.value + $chunks
    when 'merged_postings' then (select count(*) from postings)
    when 'stale_postings' then greatest(
        counters.value, case when was.value > 0 then was.value + $documents else 0 end
    )
    when 'stale_chunks' then greatest(
        counters.value, case when was.value > 0 then was.value + $chunks else 0 end
    )
    else counters.value
end
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false) as was
where counters.name = was.name
