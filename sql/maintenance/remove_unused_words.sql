-- Remove words whose term no posting has.
delete from words
where term_id not in (select term_id from postings)
