-- Add the texts of documents, each once.
--
-- in   $files  json  array of paths of documents
insert into content by name
select hash, body
from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
where
    document_id in (
        select min(document_id)
        from read_parquet(from_json($files, '["VARCHAR"]'), hive_partitioning = false)
        group by hash
    )
