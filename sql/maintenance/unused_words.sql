-- Words whose term no posting has.
--
-- out  words  bigint
select count(*) as words
from words
where term_id not in (select term_id from postings)
