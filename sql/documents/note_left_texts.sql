-- Note texts that documents have left.
--
-- in   $hashes  json  array
insert into left_texts
select unnest(from_json($hashes, '["VARCHAR"]'))
