-- Documents that say nearly the same as others: editions, copies and mirrors, in groups.
--
-- needs  documents
-- out  group_id     text      docid of the document that leads the group
-- out  file         text      of `documents`
-- out  title        text
-- out  similarity   double    share of the runs of three words that both have, 0 to 1
-- out  document_id  uinteger  changes whenever the document does
create view near_duplicates as
select
    '#' || leader[:6] as group_id,
    file,
    title,
    similarity::double as similarity,
    document_id
from qmd_index.copies
join documents using (hash)
