-- Thai is indexed by its words and by pairs of letters with their marks: postings of an index that
-- has any are made anew.

update counters
set value = coalesce((select max(document_id) + 1 from documents), 0)
where
    name = 'stale_postings'
    and exists (select 1 from words where regexp_matches(word, '[\x{0e00}-\x{0e7f}]'));
