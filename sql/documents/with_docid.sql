-- Documents whose hash begins with the digits of a docid.
--
-- in   $digits      text  lower case hex
-- out  document_id  integer
-- out  collection   text
-- out  path         text
-- out  title        text
-- out  hash         text
-- out  dated        timestamp
-- out  modified     timestamp
-- out  size         bigint
select document_id, collection, path, title, hash, dated, modified, size
from documents
where starts_with(hash, $digits)
order by collection, path
