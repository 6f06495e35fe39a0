-- Add documents.
--
-- in   $files      json     array of paths
-- in   $documents  integer  added to each document_id, so that none is used again
insert into documents by name
select * exclude (body) replace ((document_id + $documents)::uinteger as document_id)
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by document_id
