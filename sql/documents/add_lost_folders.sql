-- Note folders of a collection that have lost their files all at once.
--
-- in   $collection  text
-- in   $lost        json  array of {folder, documents, files}
insert into lost_folders
select $collection, lost.folder, lost.documents, lost.files
from (
    select unnest(
        from_json($lost, '[{"folder": "VARCHAR", "documents": "UBIGINT", "files": "UBIGINT"}]')
    ) as lost
)
