-- Note the texts that documents of removed collections leave. See documents/note_left_texts.
insert into left_texts
select hash
from documents
where collection not in (select name from collections)
