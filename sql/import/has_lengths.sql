-- Whether postings have the length of their document: those of a schema before 24, which an import of an
-- export of that schema fills.
--
-- out  has_lengths  boolean
select count(*) > 0 as has_lengths
from (describe postings)
where column_name = 'length'
