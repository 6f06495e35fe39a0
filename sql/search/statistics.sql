-- What BM25 wants to know of all documents together.
--
-- out  total           double
-- out  average_length  double  occurrences of terms in a document; 0 if there is none
select
    count(*)::double as total,
    coalesce(avg(title_length + path_length + body_length), 0) as average_length
from documents
