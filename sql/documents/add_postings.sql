-- Add the postings of accepted documents, in the order in which they come.
--
-- in   found  relation  number: the document's within the batch, and the columns of postings
-- in   $base  integer   document_id of number 0
insert into postings
select
    term_id, number + $base, title_frequency, path_frequency, body_frequency, length, positions
from found
