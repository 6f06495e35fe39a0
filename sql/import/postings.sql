-- Add postings, in the order of the terms.
--
-- in   $files      json     array of paths
-- in   $documents  integer  added to each document_id
-- in   $left_out   text     column that is left out: `length`, where the table has none; or empty
insert into postings by name
select
    columns(lambda name: name not in ('document_id', $left_out)),
    (document_id + $documents)::uinteger as document_id
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by term_id, document_id
