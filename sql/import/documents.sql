-- Add documents, without what belongs to their texts.
--
-- in   $files      json     array of paths
-- in   $documents  integer  added to each document_id, so that none is used again
insert into documents by name
select
    columns(lambda name: name not in ('document_id', 'body', 'outline', 'revision')),
    (document_id + $documents)::uinteger as document_id
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by document_id
