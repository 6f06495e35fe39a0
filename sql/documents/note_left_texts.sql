-- Note the texts that buried documents leave, before these are removed.
insert into left_texts
select hash
from documents
where document_id in (select document_id from tombstones)
