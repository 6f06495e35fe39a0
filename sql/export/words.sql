-- Words of documents, with their terms.
--
-- in   $chosen  boolean?  true: only those of the chosen documents
-- out  word     text      without case and accents
-- out  head     bigint    its first three characters, 21 bits each, from the left
-- out  term     text      its stem
-- out  term_id  bigint    low 63 bits of the MD5 of the term
select word, head, term, term_id
from words
-- if $chosen
where $chosen and term_id in (select term_id from memory.chosen_terms)
-- end
