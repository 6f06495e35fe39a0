-- Append one slice of the terms, sorted and without deleted documents, behind all postings.
--
-- in   $low   bigint  first term_id
-- in   $high  bigint  last term_id
insert into postings
select *
from postings
where
    term_id between $low and $high
    and document_id not in (select document_id from tombstones)
order by term_id, document_id
