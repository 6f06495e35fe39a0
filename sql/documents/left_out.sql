-- What is not indexed of a collection, the most frequent first.
--
-- in   $collection  text
-- out  suffix       text?    in lower case, '' for none; null: they are of any
-- out  files        bigint
-- out  why          text
select suffix, files, why
from left_out
where collection = $collection
order by suffix is null, files desc, suffix
