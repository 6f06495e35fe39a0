-- Terms of a document of one shard, with how often it has them: see search/telling_words.
--
-- in   $document_id  integer
-- out  term_id       bigint
-- out  frequency     bigint
select term_id, (@title * title_frequency + body_frequency)::bigint as frequency
from postings
where document_id = $document_id and title_frequency + body_frequency > 0
order by term_id
