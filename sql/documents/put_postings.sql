-- Add the postings of documents that are still there.
--
-- in   found  relation  the columns of postings
insert into postings
select
    term_id, document_id, title_frequency, path_frequency, body_frequency, positions
from found
where document_id in (select document_id from documents)
