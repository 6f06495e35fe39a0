-- Add the postings of accepted documents, in the order in which they come; roughly so, if only some are.
--
-- in   accepted  relation  made by documents/accept
-- in   found     relation  number: the document's within the batch, and the columns of postings
-- in   $base     integer   document_id of number 0
-- in   $some     boolean?  null: all documents of the batch were accepted
insert into postings
select
    term_id, number + $base, title_frequency, path_frequency, body_frequency, positions
from found
-- if $some
where $some and number in (select number from accepted)
-- end
