-- Data such as base64 is not indexed and not embedded: postings and chunks that have it are made anew.

update counters
set value = coalesce((select max(document_id) + 1 from documents), 0)
where name = 'stale_postings';

-- Chunks with a lower number may have data; 0: none has.
insert into counters
select 'stale_chunks', coalesce(max(chunk_id) + 1, 0)
from chunks;
