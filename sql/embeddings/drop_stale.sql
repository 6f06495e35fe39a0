-- Remove the chunks of some texts that may have data, of all models.
--
-- in   $hashes  json  array of hash
delete from chunks
where
    chunk_id < (select value from counters where name = 'stale_chunks')
    and hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
