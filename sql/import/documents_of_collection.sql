-- Add documents of one collection, which their folder tells, without what belongs to their texts.
--
-- in   $files       json     array of paths
-- in   $documents   integer  added to each document_id, so that none is used again
-- in   $collection  text
insert into documents by name
select
    columns(lambda name: name not in ('document_id', 'body', 'outline', 'revision')),
    (document_id + $documents)::uinteger as document_id,
    $collection as collection
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by document_id
