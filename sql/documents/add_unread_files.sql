-- Note files of a collection that could not be read.
--
-- in   $collection  text
-- in   $files       json  array of arrays: path, why
insert into unread_files
select $collection, file[1], file[2]
from (select unnest(from_json($files, '[["VARCHAR"]]')) as file)
