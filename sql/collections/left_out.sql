-- What is not indexed of each collection, the most frequent first.
--
-- out  collection  text
-- out  suffix      text?    in lower case, '' for none; null: they are of any
-- out  files       bigint
-- out  why         text
select collection, suffix, files, why
from left_out
order by collection, suffix is null, files desc, suffix
