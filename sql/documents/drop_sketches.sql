-- Remove the signatures of some texts.
--
-- in   $hashes  json  array, none twice
delete from sketches
where hash in (select unnest(from_json($hashes, '["VARCHAR"]')))
