-- Postings by earlier rules of what a word is, which the next update makes anew.

-- Documents with a lower number may have such postings; 0: none has.
insert into counters
select 'stale_postings', case when exists (select 1 from documents) then value else 0 end
from counters
where name = 'next_document_id';
