-- Add rows that belong to documents.
--
-- in   $table      name     put in as text, since a table is no parameter; it has a document_id
-- in   $files      json     array of paths
-- in   $documents  integer  added to each document_id
insert into $table by name
select * replace ((document_id + $documents)::uinteger as document_id)
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
