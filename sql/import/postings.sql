-- Add postings, in the order of the terms.
--
-- in   $files      json      array of paths
-- in   $documents  integer   added to each document_id
-- in   $shorter    boolean?  true: the table has no lengths
insert into postings by name
select
    *
    -- if $shorter
    exclude (length)
    -- end
    replace ((document_id + $documents)::uinteger as document_id)
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
order by term_id, document_id
