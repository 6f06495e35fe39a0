-- Words whose term no document has.
--
-- out  words  bigint
select count(*) as words
from words
where
    term_id not in (
        select term_id
        from postings
        anti join tombstones on postings.document_id = tombstones.document_id
    )
