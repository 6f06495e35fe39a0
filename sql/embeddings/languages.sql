-- How much of the texts is in which kind of language, and whether any of them has vectors.
--
-- out  foreign_share  double   0 to 1; of the bytes of files whose language is another than English
-- out  embedded       boolean
select
    coalesce(sum(size) filter (where lang <> 'en') / nullif(sum(size), 0), 0) as foreign_share,
    exists (from embeddings) as embedded
from documents
