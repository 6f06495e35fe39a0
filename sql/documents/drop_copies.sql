-- Forget which texts some are nearly the same as.
--
-- in   $hashes  json  array, none twice
delete from copies
where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
