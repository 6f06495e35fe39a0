-- Remove the signatures of some texts.
--
-- in   $places  json  array, none twice
delete from sketches
where rowid in (select unnest(from_json($places, '["BIGINT"]')))
